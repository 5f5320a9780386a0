"""The folder of pages: its index, and what it costs."""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest

from analytics.page_folder import ALL, file_of, made, names, of_domain, save, write_contents
from gatepost.insight.rendering import Whole

BEGIN = date(2026, 9, 1)
DAYS = [BEGIN + timedelta(days=n) for n in range(91)]
MONTHS = ["2026-11", "2026-10", "2026-09"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three months of two domains, one of which is of the first month alone."""
    places = tmp_path / ALL, of_domain(tmp_path, "a.example"), of_domain(tmp_path, "b.example")
    for place in places:
        place.mkdir(parents=True)
    for name in (*MONTHS, *map(str, DAYS)):
        for place in places[:2]:
            file_of(place, name).write_text("x")
    file_of(places[2], "2026-09").write_text("x")
    return tmp_path


def links(page: Path) -> list[str]:
    return re.findall(r'<a href="([^"]+)"', page.read_text())


def test_the_index_has_the_months_and_each_has_whose_pages_there_are(folder: Path) -> None:
    write_contents(folder, Whole(), MONTHS)
    assert links(folder / "index.html") == [f"{month}.html" for month in MONTHS]
    assert links(folder / "2026-09.html") == [
        "index.html",
        "all-domains/2026-09.html",
        "domains/a.example/2026-09.html",
        "domains/b.example/2026-09.html",
    ]
    assert len(links(folder / "2026-11.html")) == 3


def test_months_that_have_not_changed_are_left_alone(folder: Path) -> None:
    """But for those that have no list yet, as an earlier release has left them."""
    save(file_of(folder, "2026-10"), "as it was")
    write_contents(folder, Whole(), ["2026-11"])
    assert (folder / "2026-10.html").read_text() == "as it was"
    assert len(links(folder / "2026-09.html")) == 4


def test_no_more_is_looked_at_than_one_folder_and_the_months_lists(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each domain's own folder is never listed: it has a name for each day."""
    listed: list[str] = []
    iterdir = Path.iterdir

    def listing(one: Path) -> Iterator[Path]:
        listed.append(one.name)
        return iter(iterdir(one))

    monkeypatch.setattr(Path, "iterdir", listing)
    write_contents(folder, Whole(), ["2026-11"])
    assert set(listed) == {"all-domains", "domains"}


def test_what_is_not_there_was_made_from_nothing(tmp_path: Path) -> None:
    assert names(tmp_path / "nothing") == []
    assert made(tmp_path / "nothing.html") is None
    (tmp_path / "file").write_bytes(b"\xff not a page")
    assert made(tmp_path / "file") is None
    assert made(tmp_path / "file" / "beyond.html") is None
    save(tmp_path / "page.html", Whole().make("Title", None, [], "a run"))
    assert made(tmp_path / "page.html") == "a run"
