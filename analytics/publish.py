"""Makes a day's folder the day: manifest, counts and reports in one transaction of the ledger.

Until it commits, readers see the day as it was; after it, all of it is new (I13).
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from sqlalchemy import Connection

from analytics.check import Tally
from analytics.errors import LockLost
from analytics.lake import Folder
from analytics.ledger import repository
from analytics.ledger.repository import Counts, Published
from analytics.reports.hours import REPORTS
from analytics.schema import VERSION

Rows = Sequence[Mapping[str, object]]
WAITING = "queued"


@dataclass(frozen=True, slots=True)
class Facts:
    """What is published of a day, beside its rows."""

    counts: Counts
    reports: Mapping[str, Rows]

    @property
    def waiting(self) -> int:
        return sum(n for (_, status), n in self.counts.items() if status == WAITING)


def gather(messages: DataFrame, day: date) -> Facts:
    """From what the lake has, so that the reports are of what is published."""
    by_status = messages.groupBy("domain", "status").agg(f.count("*").alias("rows")).collect()
    return Facts(
        {(row["domain"], row["status"]): row["rows"] for row in by_status},
        {report.table: _rows(make(messages), day) for report, make in REPORTS},
    )


def publish(
    connection: Connection, folder: Folder, tally: Tally, facts: Facts, now: datetime, *, seal: bool
) -> Published:
    """`seal`: the day is done, no run extracts it again."""
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
    )
    with _alone(connection):
        repository.put_manifest(connection, row)
        repository.note_replaced(connection, folder, now)
        repository.put_counts(connection, folder.day, facts.counts)
        _put_reports(connection, folder.day, facts)
    return row


def publish_reports(connection: Connection, day: date, facts: Facts) -> None:
    """The reports alone, of a day whose rows stay what they are."""
    with _alone(connection):
        _put_reports(connection, day, facts)


@contextmanager
def _alone(connection: Connection) -> Iterator[None]:
    """A transaction of the run that has the lock: one that was made anew hasn't it."""
    with connection.begin():
        if not repository.has_lock(connection):
            raise LockLost
        yield


def _put_reports(connection: Connection, day: date, facts: Facts) -> None:
    for table, rows in facts.reports.items():
        repository.replace_report(connection, table, day, rows)


def _rows(report: DataFrame, day: date) -> Rows:
    return [{"day": day, **row.asDict()} for row in report.collect()]
