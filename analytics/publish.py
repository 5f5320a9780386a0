"""Make a run's folders the day: manifest and reports in one transaction of the ledger.

Until it commits, readers see the day as it was; after it, they see all of the new one (I13).
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from sqlalchemy import Connection

from analytics import lake
from analytics.check import Tally
from analytics.errors import LockLost
from analytics.insight.conclude import conclude
from analytics.lake import Folder
from analytics.ledger import repository
from analytics.ledger.repository import Published
from analytics.reports.day import REPORTS, DayRows, all_reports
from analytics.reports.hours import HOURS, Report
from analytics.schema import VERSION
from analytics.settings import Aims


class Written(Mapping[str, Iterator[Mapping[str, object]]]):
    """A day's reports by their tables, as the lake has them. A table's rows are read each time they
    are asked for, a part at a time: of thousands of clients there are millions of rows."""

    def __init__(self, frame: DataFrame, day: date) -> None:
        self._frame = frame
        self._day = day
        self._reports = {report.table: report for report, _ in REPORTS}

    def __getitem__(self, table: str) -> Iterator[Mapping[str, object]]:
        report = self._reports[table]
        names = [*report.keys, *report.values]
        for row in self.frame_of(report).select(names).toLocalIterator():
            yield {"day": self._day, **row.asDict()}

    def __iter__(self) -> Iterator[str]:
        return iter(self._reports)

    def __len__(self) -> int:
        return len(self._reports)

    def frame_of(self, report: Report) -> DataFrame:
        return self._frame.where(f.col("report") == report.name)


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts that are published of a day, beside its rows; the reports' files are in the
    folder."""

    folder: Folder
    reports: Written
    clients: Collection[tuple[str, str]]
    """The domain and client of whoever has sent anything."""
    waiting: int
    """The number of their messages that wait."""
    beside: Mapping[str, int]
    """The number of rows that the lake has beside the messages."""


def gather(rows: DayRows, uri: str, folder: Folder) -> Facts:
    """Make the reports from what the lake has, so that they are of what is published; and write
    them into the lake."""
    reports = Written(lake.write_reports(all_reports(rows), uri, folder), folder.day)
    by_client = reports.frame_of(HOURS).groupBy("domain", "client_id").agg(f.sum("waiting"))
    waiting = {(domain, client_id): count for domain, client_id, count in by_client.collect()}
    return Facts(folder, reports, waiting.keys(), sum(waiting.values()), rows.count_beside())


def publish(
    connection: Connection,
    folder: Folder,
    tally: Tally,
    facts: Facts,
    now: datetime,
    aims: Aims,
    *,
    seal: bool,
) -> Published:
    """Publish a day; with `seal` it is done, and no run extracts it again."""
    row = Published(
        day=folder.day,
        run_id=folder.run_id,
        schema_version=VERSION,
        row_count=tally.rows,
        id_xor=tally.id_xor,
        first_published_at=now,
        published_at=now,
        sealed_at=now if seal else None,
        late_changes=0,
        reports_run_id=facts.folder.run_id,
        attempt_count=facts.beside["attempts"],
        sender_count=facts.beside["senders"],
    )
    with _alone(connection):
        repository.put_manifest(connection, row)
        repository.note_replaced(connection, folder, now)
        _put_reports(connection, facts, now, aims)
    return row


def publish_reports(connection: Connection, facts: Facts, now: datetime, aims: Aims) -> None:
    """Publish the reports alone, of a day whose rows stay what they are."""
    with _alone(connection):
        repository.put_reports_folder(connection, facts.folder)
        _put_reports(connection, facts, now, aims)


@contextmanager
def _alone(connection: Connection) -> Iterator[None]:
    """Run a transaction of the run that has the lock: a connection that was made anew hasn't it."""
    with connection.begin():
        if not repository.has_lock(connection):
            raise LockLost
        yield


def _put_reports(connection: Connection, facts: Facts, now: datetime, aims: Aims) -> None:
    day = facts.folder.day
    repository.note_replaced(connection, facts.folder, now)
    for table, rows in facts.reports.items():
        repository.replace_report(connection, table, day, rows)
    repository.see_clients(connection, day, facts.clients)
    conclude(connection, day, facts.reports, aims, now)
