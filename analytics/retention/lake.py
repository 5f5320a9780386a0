"""Take away what is past its time in the lake, which keeps a day for longer than the ledger;
reports keep their numbers for longer still.

Files go first, then the note of them: whoever is killed in between finds them noted, and does it
again (I13). The manifest keeps its row: by it the ledger's own retention knows that the day was
sealed, however long a hold has kept its messages.
"""

from datetime import date, datetime, timedelta

from pyspark.sql import SparkSession
from sqlalchemy import Connection

from analytics import lake
from analytics.retention import repository
from analytics.retention.pages import remove_pages
from analytics.retention.repository import Kept
from analytics.settings import AnalyticsSettings
from gatepost.errors import ConfigurationError
from gatepost.logs import Log
from gatepost.wire.domains import USUAL_RETENTION_DAYS

CHUNK = 5_000


def demand_kept_long_enough(connection: Connection, extracted_again: int) -> None:
    """Raise ConfigurationError if messages would be gone before the lake is sure of them."""
    least, kept = extracted_again + 1, _kept(connection)
    if kept.shortest < least:
        raise ConfigurationError(
            f"the ledger keeps some messages for {kept.shortest} days, below {least}: they would be"
            " gone before the lake is sure of them. Change that (`gatepost retention show`), or"
            " days.extracted_again"
        )


def take_away(
    session: SparkSession,
    connection: Connection,
    settings: AnalyticsSettings,
    log: Log,
    now: datetime,
) -> None:
    """Take away folders, reports and their pages that are past their own time."""
    uri = settings.lake.uri
    kept = _kept(connection)
    last = _last_due(max(kept.lake, kept.longest), now)
    last_of_reports = _last_due(max(kept.reports, kept.lake, kept.longest), now)
    for kind, until in ((lake.MESSAGES, last), (lake.REPORTS, last_of_reports)):
        with connection.begin():
            folders = repository.folders_until(connection, until, kind)
        for folder in folders:
            lake.remove(session, uri, folder)
            with connection.begin():
                repository.forget_folder(connection, folder, now)
            log.info("day.removed", day=str(folder.day), folder=folder.run_id, what=kind)
    _forget_reports(connection, last_of_reports)
    if settings.reports.folder is not None:
        remove_pages(settings.reports.folder, last_of_reports)


def _forget_reports(connection: Connection, last: date) -> None:
    """Delete reports a part at a time, so that nobody waits for a long transaction."""
    with connection.begin():
        tables = repository.report_tables(connection)
    for table, column in tables:
        gone = CHUNK
        while gone == CHUNK:
            with connection.begin():
                gone = repository.delete_reports(connection, table, column, last, CHUNK)


def _kept(connection: Connection) -> Kept:
    with connection.begin():
        return repository.read_kept(connection, USUAL_RETENTION_DAYS)


def _last_due(days: int, now: datetime) -> date:
    return now.date() - timedelta(days=days + 1)
