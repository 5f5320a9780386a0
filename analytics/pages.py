"""Pages of the reports as files, for each day and month: of each domain, for its own people; and
of all domains, for others, without small groups (gatepost.insight.suppression).

    <folder>/index.html
    <folder>/all-domains/2026-11-17.html, 2026-11.html
    <folder>/domains/<domain>/2026-11-17.html, 2026-11.html

Each is written anew whole. The page of all domains is the last of its day and says which run it is
of: where another one has published the day since, all pages of the day are made again. So a run
that is killed between publishing and writing leaves nothing undone.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path

from sqlalchemy import Connection

from analytics.days import DAY
from analytics.ledger import repository
from analytics.ledger.repository import Published
from analytics.settings import AnalyticsSettings
from gatepost.identity import is_domain
from gatepost.insight.rendering import Whole
from gatepost.insight.repository import Asked, read_days_of_all
from gatepost.insight.shapes import Reports
from gatepost.insight.suppression import OfAll, for_others
from gatepost.insight.view import read_reports
from gatepost.logs import Log
from gatepost.whole_file import replace_file

_ALL, _DOMAINS = "all-domains", "domains"
_MADE = re.compile(r'<meta name="gatepost-made" content="([^"]*)">')
_HEAD = 2048
Span = tuple[date, date]


def write_missing(
    connection: Connection, settings: AnalyticsSettings, today: date, log: Log
) -> None:
    """Of the last days, and their months: what isn't there, or is of an earlier run."""
    folder = settings.reports.folder
    if folder is None:
        return
    with connection.begin():
        since = today - timedelta(days=settings.days.watched)
        days = repository.published_between(connection, since, today)
    stale = [one for one in days if _made(_file(folder / _ALL, (one.day, one.day))) != _run(one)]
    _write(connection, settings, folder, stale, log)


def write(
    connection: Connection, settings: AnalyticsSettings, first: date, last: date, log: Log
) -> None:
    """Of these days and their months, whatever is there."""
    if settings.reports.folder is None:
        return
    with connection.begin():
        days = repository.published_between(connection, first, last)
    _write(connection, settings, settings.reports.folder, days, log)


def _write(
    connection: Connection,
    settings: AnalyticsSettings,
    folder: Path,
    days: Sequence[Published],
    log: Log,
) -> None:
    if not days:
        return
    writer = _Writer(connection, folder, settings.reports.fewest)
    months = sorted({one.day.replace(day=1) for one in days})
    for begin in months:
        writer.write((begin, _end_of(begin)), made="")
    for one in days:
        writer.write((one.day, one.day), _run(one))
    writer.write_index()
    log.info("pages.written", days=len(days), months=len(months), pages=writer.pages)


class _Writer:
    def __init__(self, connection: Connection, folder: Path, fewest: int) -> None:
        self.pages = 0
        self._connection = connection
        self._folder = folder
        self._fewest = fewest
        self._whole = Whole()

    def write(self, span: Span, made: str) -> None:
        """Those of the domains, then that of all: it says that all of them are there."""
        with self._connection.begin():
            days = read_days_of_all(self._connection, *span)
            found = [(one, self._read(span, one)) for one in sorted(_domains(days))]
            every = for_others(self._read(span, None), days, self._fewest)
        for domain, reports in found:
            title = f"{domain}, {_name(span)}"
            self._put(self._folder / _DOMAINS / domain, span, title, reports, made)
        self._put(self._folder / _ALL, span, f"All domains, {_name(span)}", every, made)

    def write_index(self) -> None:
        files = sorted(self._folder.glob("*/**/*.html"), reverse=True)
        links = [
            (
                " ".join([*one.relative_to(self._folder).parts[:-1], one.stem]),
                _address(self._folder, one),
            )
            for one in files
        ]
        self._save(self._folder / "index.html", self._whole.make("Reports", None, links, ""))

    def _read(self, span: Span, domain: str | None) -> Reports:
        return read_reports(self._connection, Asked(*span, domain))

    def _put(self, folder: Path, span: Span, title: str, reports: Reports, made: str) -> None:
        page = self._whole.make(title, reports, list(_beside(folder, span)), made)
        self._save(_file(folder, span), page)
        self.pages += 1

    def _save(self, file: Path, page: str) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, page.encode())


def _beside(folder: Path, span: Span) -> Iterator[tuple[str, str]]:
    """The month of a day; the days of a month."""
    first, last = span
    if first == last:
        yield f"{first:%Y-%m}", f"{first:%Y-%m}.html"
        return
    for n in range((last - first).days + 1):
        day = first + DAY * n
        if _file(folder, (day, day)).exists():
            yield f"{day:%d}", f"{day}.html"


def _domains(days: Mapping[str, OfAll]) -> set[str]:
    """Names that the ledger has checked; they are names of folders here, so they are once more."""
    return {one for day in days.values() for one in day.domains if is_domain(one)}


def _run(one: Published) -> str:
    return f"{one.run_id} {one.published_at:%Y-%m-%dT%H:%M:%S}"


def _made(file: Path) -> str | None:
    try:
        with file.open(encoding="utf-8") as stream:
            found = _MADE.search(stream.read(_HEAD))
    except FileNotFoundError:
        return None
    return found[1] if found else None


def _file(folder: Path, span: Span) -> Path:
    return folder / f"{_name(span)}.html"


def _name(span: Span) -> str:
    first, last = span
    return str(first) if first == last else f"{first:%Y-%m}"


def _address(folder: Path, file: Path) -> str:
    return "/".join(file.relative_to(folder).parts)


def _end_of(begin: date) -> date:
    return (begin + DAY * 32).replace(day=1) - DAY
