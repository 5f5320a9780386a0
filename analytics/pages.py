"""The pages of the reports as files, for each day and month: of each domain, for its own people;
and of all domains, for others, without small groups (gatepost.insight.suppression).

Each page is written anew as a whole, into the folder that analytics.page_folder describes. The page
of all domains is the last of its day and says which runs its rows and reports are of: where others
have published the day since, all pages of the day are made again. So a run that is killed between
publishing and writing leaves nothing undone.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path

from sqlalchemy import Connection

from analytics.days import DAY
from analytics.errors import PagesUnwritable
from analytics.ledger import repository
from analytics.ledger.repository import Published
from analytics.page_folder import ALL, Span, file_of, made, name_of, of_domain, save, write_contents
from analytics.settings import AnalyticsSettings
from gatepost.errors import ConfigurationError
from gatepost.insight.rendering import Whole
from gatepost.insight.repository import Asked, read_days_of_all
from gatepost.insight.shapes import Reports
from gatepost.insight.suppression import OfAll, for_others
from gatepost.insight.view import read_reports
from gatepost.logs import Log
from gatepost.trust.identity import is_domain


def write_missing(
    connection: Connection, settings: AnalyticsSettings, today: date, log: Log
) -> None:
    """Write the pages that are missing, or are of an earlier run: of the last days, of whatever was
    published or rebuilt in them, and of their months."""
    folder = settings.reports.folder
    if folder is None:
        return
    with connection.begin():
        since = today - timedelta(days=settings.days.watched)
        days = repository.published_lately(connection, since)
    with _in_words():
        stale = [one for one in days if made(file_of(folder / ALL, str(one.day))) != _runs(one)]
        _write(connection, settings, folder, stale, log)


def _write(
    connection: Connection,
    settings: AnalyticsSettings,
    folder: Path,
    days: Sequence[Published],
    log: Log,
) -> None:
    """Write the pages, the days' own last: by them it is known that all of it was done."""
    if not days:
        return
    coming = {one.day for one in days}
    writer = _Writer(connection, folder, settings.reports.fewest, coming)
    months = [(begin, _end_of(begin)) for begin in sorted({one.replace(day=1) for one in coming})]
    for month in months:
        writer.write(month, made_from="")
    writer.write_contents(months)
    for one in days:
        writer.write((one.day, one.day), _runs(one))
    log.info("pages.written", days=len(days), months=len(months), pages=writer.pages)


class _Writer:
    """A writer of pages; `coming` are the days whose own pages are written after those of their
    months."""

    def __init__(
        self, connection: Connection, folder: Path, fewest: int, coming: Collection[date]
    ) -> None:
        self.pages = 0
        self._connection = connection
        self._folder = folder
        self._fewest = fewest
        self._coming = coming
        self._whole = Whole()

    def write(self, span: Span, made_from: str) -> None:
        """Write the pages of the domains, then that of all: it says that all of them are there."""
        with self._connection.begin():
            days = read_days_of_all(self._connection, *span)
            found = [(one, self._read(span, one)) for one in sorted(_domains(days))]
            every = for_others(self._read(span, None), days, self._fewest)
        for domain, reports in found:
            sent = {day for day, of_all in days.items() if domain in of_all.domains}
            own = {day for day in self._coming if str(day) in sent}
            self._put(of_domain(self._folder, domain), span, domain, reports, own, made_from)
        self._put(self._folder / ALL, span, "All domains", every, self._coming, made_from)

    def write_contents(self, months: Sequence[Span]) -> None:
        write_contents(self._folder, self._whole, [name_of(one) for one in months])

    def _read(self, span: Span, domain: str | None) -> Reports:
        return read_reports(self._connection, Asked(*span, domain))

    def _put(
        self,
        folder: Path,
        span: Span,
        whose: str,
        reports: Reports,
        coming: Collection[date],
        made_from: str,
    ) -> None:
        name, links = name_of(span), list(_beside(folder, span, coming))
        save(file_of(folder, name), self._whole.make(f"{whose}, {name}", reports, links, made_from))
        self.pages += 1


def _beside(folder: Path, span: Span, coming: Collection[date]) -> Iterator[tuple[str, str]]:
    """Yield the links to what is beside a page: the month of a day; the days of a month."""
    first, last = span
    if first == last:
        yield f"{first:%Y-%m}", f"{first:%Y-%m}.html"
        return
    for n in range((last - first).days + 1):
        day = first + DAY * n
        if day in coming or file_of(folder, str(day)).exists():
            yield f"{day:%d}", f"{day}.html"


def _domains(days: Mapping[str, OfAll]) -> set[str]:
    """Return the domains. The ledger has checked their names; they are names of folders here, so
    they are checked once more."""
    return {one for day in days.values() for one in day.domains if is_domain(one)}


def _runs(one: Published) -> str:
    """Return what a page was made from. Whatever changes a day changes one of these, a rebuild that
    of its reports."""
    return f"{one.run_id} {one.reports_run_id} {one.published_at:%Y-%m-%dT%H:%M:%S}"


@contextmanager
def _in_words() -> Iterator[None]:
    """Say in words that nobody may write to the folder, or that the disk is full."""
    try:
        yield
    except OSError as error:
        words = f"{error.filename or 'A page'} can't be used: {error.strerror or error}"
        raise PagesUnwritable(f"{words} (reports.folder)") from error
    except ConfigurationError as error:
        raise PagesUnwritable(f"{error.detail} (reports.folder)") from error


def _end_of(begin: date) -> date:
    return (begin + DAY * 32).replace(day=1) - DAY
