"""Makes a run's folders the day: manifest, counts and reports in one transaction of the ledger.

Until it commits, readers see the day as it was; after it, all of it is new (I13).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from typing import cast

from pyspark.sql import Row
from sqlalchemy import Connection

from analytics import lake
from analytics.check import Tally
from analytics.errors import LockLost
from analytics.insight.conclude import conclude
from analytics.lake import Folder
from analytics.ledger import repository
from analytics.ledger.repository import Counts, Published
from analytics.reports.day import REPORTS, DayRows, all_reports
from analytics.reports.hours import HOURS, STATUSES, Report
from analytics.schema import VERSION
from analytics.settings import Aims

Rows = Sequence[Mapping[str, object]]
WAITING = "queued"


@dataclass(frozen=True, slots=True)
class Facts:
    """What is published of a day, beside its rows; the reports' files are in the folder."""

    counts: Counts
    folder: Folder
    reports: Mapping[str, Rows]

    @property
    def waiting(self) -> int:
        return sum(n for (_, status), n in self.counts.items() if status == WAITING)

    @property
    def clients(self) -> set[tuple[str, str]]:
        """Whoever has sent anything: domain and client."""
        return {(str(r["domain"]), str(r["client_id"])) for r in self.reports[HOURS.table]}


def gather(rows: DayRows, uri: str, folder: Folder) -> Facts:
    """From what the lake has, so that the reports are of what is published; and into the lake."""
    written = lake.write_reports(all_reports(rows), uri, folder).collect()
    reports = {report.table: _rows(report, written, folder.day) for report, _ in REPORTS}
    return Facts(count_by_status(reports[HOURS.table]), folder, reports)


def count_by_status(hours: Rows) -> Counts:
    """Only where there are any."""
    counts: Counter[tuple[str, str]] = Counter()
    for row in hours:
        for name, status in STATUSES.items():
            counts[str(row["domain"]), status] += cast(int, row[name])
    return +counts


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
        reports_run_id=facts.folder.run_id,
    )
    with _alone(connection):
        repository.put_manifest(connection, row)
        repository.note_replaced(connection, folder, now)
        repository.put_counts(connection, folder.day, facts.counts)
        _put_reports(connection, facts, now, aims)
    return row


def publish_reports(connection: Connection, facts: Facts, now: datetime, aims: Aims) -> None:
    """The reports alone, of a day whose rows stay what they are."""
    with _alone(connection):
        repository.put_reports_folder(connection, facts.folder)
        _put_reports(connection, facts, now, aims)


@contextmanager
def _alone(connection: Connection) -> Iterator[None]:
    """A transaction of the run that has the lock: one that was made anew hasn't it."""
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


def _rows(report: Report, written: Sequence[Row], day: date) -> Rows:
    names = [*report.keys, *report.values]
    of_it = (row for row in written if row["report"] == report.name)
    return [{"day": day, **{name: row[name] for name in names}} for row in of_it]
