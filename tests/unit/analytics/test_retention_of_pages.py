"""Pages of reports go when the reports do."""

from datetime import date
from pathlib import Path

import pytest

from analytics.retention.pages import remove_pages

LAST = date(2026, 2, 14)
STAY = {"index.html", "2026-02-15.html", "2026-02.html", "2026-13.html", "notes.html"}
GO = {"2026-02-14.html", "2026-01.html", "2025-12-31.html"}


@pytest.fixture
def places(tmp_path: Path) -> list[Path]:
    """All that has pages: each domain, and that of all of them."""
    found = [tmp_path / one for one in ("domains/a.example", "domains/b.example", "all-domains")]
    for place in found:
        place.mkdir(parents=True)
        for name in STAY | GO:
            (place / name).write_text("x")
    return found


def left(place: Path) -> set[str]:
    return {one.name for one in place.iterdir()}


def test_what_has_ended_by_then_goes_and_nothing_else(places: list[Path], tmp_path: Path) -> None:
    for name in ("index.html", "2026-02.html", "2026-01.html"):
        (tmp_path / name).write_text("x")
    for _ in range(2):
        remove_pages(tmp_path, LAST)
    for place in places:
        assert left(place) == STAY
    assert left(tmp_path) == {"index.html", "2026-02.html", "domains", "all-domains"}


def test_killed_half_way_it_does_the_rest(
    places: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unlink, done = Path.unlink, iter(range(2))

    def killed(file: Path, missing_ok: bool = False) -> None:
        if next(done, None) is None:
            raise KeyboardInterrupt
        unlink(file, missing_ok=missing_ok)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", killed)
        with pytest.raises(KeyboardInterrupt):
            remove_pages(tmp_path, LAST)
    remove_pages(tmp_path, LAST)
    assert [left(place) for place in places] == [STAY] * 3


def test_where_there_are_no_pages_there_is_nothing_to_remove(tmp_path: Path) -> None:
    remove_pages(tmp_path / "nothing", LAST)
