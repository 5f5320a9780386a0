"""The folder of pages: what lies where, and how one gets from its index to each of them.

    <folder>/index.html                                          the months
    <folder>/2026-11.html                                        a month: whose pages there are
    <folder>/all-domains/2026-11-17.html, 2026-11.html
    <folder>/domains/<domain>/2026-11-17.html, 2026-11.html      a month's has links to its days

The page of all domains is the last of a day or month that is written, and the last that is removed.
So the names in that one folder tell which days and months have pages, and the others are found by
name: what a night costs here doesn't grow with the days that there are, domain by domain.
"""

import re
from collections.abc import Collection, Iterator
from datetime import date
from pathlib import Path

from gatepost.insight.rendering import Whole
from gatepost.trust.identity import is_domain
from gatepost.whole_file import replace_file

ALL, _DOMAINS, _INDEX = "all-domains", "domains", "index"
_MONTH = re.compile(r"\d{4}-\d{2}")
_MADE = re.compile(r'<meta name="gatepost-made" content="([^"]*)">')
_HEAD = 2048
Span = tuple[date, date]
"""A day, or a whole month."""


def name_of(span: Span) -> str:
    first, last = span
    return str(first) if first == last else f"{first:%Y-%m}"


def file_of(folder: Path, name: str) -> Path:
    return folder / f"{name}.html"


def of_domain(folder: Path, domain: str) -> Path:
    return folder / _DOMAINS / domain


def names(folder: Path) -> list[str]:
    """Return the days and months that there are pages of."""
    return [one.stem for one in _in(folder / ALL) if one.suffix == ".html"]


def domains(folder: Path) -> list[Path]:
    """Return the folders of the domains that have had pages."""
    there = _in(folder / _DOMAINS)
    return sorted(one for one in there if is_domain(one.name) and one.is_dir())


def made(file: Path) -> str | None:
    """Return what the page says of what it was made from; None if there is no such page."""
    try:
        with file.open(encoding="utf-8", errors="replace") as stream:
            found = _MADE.search(stream.read(_HEAD))
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found[1] if found else None


def save(file: Path, page: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    replace_file(file, page.encode())


def write_contents(folder: Path, whole: Whole, changed: Collection[str]) -> None:
    """Write the index, and the lists of the months that have changed or have none."""
    months = sorted((one for one in names(folder) if _MONTH.fullmatch(one)), reverse=True)
    for month in months:
        file = file_of(folder, month)
        if month in changed or not file.exists():
            save(file, whole.make(f"Reports of {month}", None, list(_of_month(folder, month)), ""))
    links = [(month, f"{month}.html") for month in months]
    save(file_of(folder, _INDEX), whole.make("Reports", None, links, ""))


def _of_month(folder: Path, month: str) -> Iterator[tuple[str, str]]:
    page = f"{month}.html"
    yield "all months", f"{_INDEX}.html"
    yield "all domains", f"{ALL}/{page}"
    for one in domains(folder):
        if file_of(one, month).exists():
            yield one.name, f"{_DOMAINS}/{one.name}/{page}"


def _in(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
