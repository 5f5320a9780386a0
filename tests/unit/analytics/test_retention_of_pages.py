"""Pages of reports go when the reports do."""

from datetime import date
from pathlib import Path

from analytics.retention.pages import remove_pages


def test_what_has_ended_by_then_goes_and_nothing_else(tmp_path: Path) -> None:
    stay = {"index.html", "2026-02-15.html", "2026-02.html", "2026-13.html", "notes.html"}
    go = {"2026-02-14.html", "2026-01.html", "2025-12-31.html"}
    folder = tmp_path / "domains" / "example.com"
    folder.mkdir(parents=True)
    for name in stay | go:
        (folder / name).write_text("x")
    for _ in range(2):
        remove_pages(tmp_path, date(2026, 2, 14))
    assert {one.name for one in folder.iterdir()} == stay
