"""SQL for a run: the lock, what the ledger has of a day, the manifest, folders and runs."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from itertools import islice

from sqlalchemy import Connection, text

from analytics.check import Tally
from analytics.days import Span
from analytics.lake import Folder
from analytics.reports.hours import STATUSES
from gatepost.config.database import NIGHTLY_LOCK

Counts = Mapping[tuple[str, str], int]
"""The messages by client and status."""
ROWS_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True)
class Published:
    """A day's row of the manifest."""

    day: date
    run_id: str
    schema_version: int
    row_count: int
    id_xor: int
    first_published_at: datetime
    published_at: datetime
    sealed_at: datetime | None
    late_changes: int
    reports_run_id: str | None
    """The run that has made the reports; None: one of a release that wrote none into the lake."""
    attempt_count: int | None
    sender_count: int | None
    """The rows that lie beside the messages; None: it was not noted then."""

    @property
    def folder(self) -> Folder:
        return Folder(self.day, self.run_id)

    @property
    def tally(self) -> Tally:
        return Tally(self.row_count, self.id_xor)

    @property
    def beside(self) -> dict[str, int | None]:
        return {"attempts": self.attempt_count, "senders": self.sender_count}


_MANIFEST = f"SELECT {', '.join(Published.__slots__)} FROM lake_manifest"


def take_lock(connection: Connection) -> bool:
    return bool(connection.scalar(text("SELECT GET_LOCK(:name, 0)"), {"name": NIGHTLY_LOCK}))


def has_lock(connection: Connection) -> bool:
    query = text("SELECT IS_USED_LOCK(:name) = CONNECTION_ID()")
    return bool(connection.scalar(query, {"name": NIGHTLY_LOCK}))


def is_locked(connection: Connection) -> bool:
    return connection.scalar(text("SELECT IS_USED_LOCK(:name)"), {"name": NIGHTLY_LOCK}) is not None


def read_now(connection: Connection) -> datetime:
    now: datetime = connection.execute(text("SELECT UTC_TIMESTAMP(3)")).scalar_one()
    return now


def first_message(connection: Connection) -> bytes | None:
    found: bytes | None = connection.scalar(text("SELECT MIN(message_id) FROM messages"))
    return found


def tally(connection: Connection, span: Span) -> dict[str, Tally]:
    """Return by domain how many messages there are, and the exclusive or of their ids' last 7
    bytes."""
    query = text(
        "SELECT client_id, COUNT(*),"
        " BIT_XOR(CAST(CONV(HEX(SUBSTRING(message_id, 10)), 16, 10) AS UNSIGNED))"
        " FROM messages FORCE INDEX (ix_messages_client)"
        " WHERE message_id >= :first AND message_id < :end GROUP BY client_id"
    )
    found: dict[str, Tally] = {}
    for client_id, count, xor in connection.execute(query, _between(span)):
        domain = _domain_of(client_id)
        before = found.get(domain, Tally(0, 0))
        found[domain] = Tally(before.rows + int(count), before.id_xor ^ int(xor))
    return found


def counts(connection: Connection, span: Span) -> Counts:
    query = text(
        "SELECT client_id, status, COUNT(*) FROM messages FORCE INDEX (ix_messages_status)"
        " WHERE message_id >= :first AND message_id < :end GROUP BY status, client_id"
    )
    rows = connection.execute(query, _between(span))
    return {(client_id, status): int(count) for client_id, status, count in rows}


def _between(span: Span) -> dict[str, bytes]:
    return {"first": span.first, "end": span.end}


def _domain_of(client_id: str) -> str:
    """Return the client's domain. Messages are counted by clients: indexes have these, and not the
    domain's own column, with which rows would be read whole, bodies and all (decision 0051)."""
    return client_id.partition(":")[0]


def published(connection: Connection, day: date) -> Published | None:
    row = connection.execute(text(f"{_MANIFEST} WHERE day = :day"), {"day": day}).one_or_none()
    return Published(*row) if row else None


def published_between(connection: Connection, first: date, last: date) -> list[Published]:
    query = text(f"{_MANIFEST} WHERE day BETWEEN :first AND :last ORDER BY day")
    rows = connection.execute(query, {"first": first, "last": last})
    return [Published(*row) for row in rows]


def published_lately(connection: Connection, since: date) -> list[Published]:
    """Return the days since then, and earlier ones whose reports were made since then: ids of runs
    begin with their day."""
    query = text(f"{_MANIFEST} WHERE day >= :since OR reports_run_id >= :run ORDER BY day")
    values = {"since": since, "run": f"{since:%Y%m%d}"}
    return [Published(*row) for row in connection.execute(query, values)]


def sealed_by_day(connection: Connection) -> dict[date, bool]:
    """Return each published day, and whether it is sealed."""
    rows = connection.execute(text("SELECT day, sealed_at IS NOT NULL FROM lake_manifest"))
    return {day: bool(sealed) for day, sealed in rows}


def late_changes(connection: Connection, first: date) -> dict[date, int]:
    """Return the sealed days since then, and how many late changes were noted for each."""
    query = text(
        "SELECT day, late_changes FROM lake_manifest"
        " WHERE sealed_at IS NOT NULL AND day >= :first ORDER BY day"
    )
    return {day: int(count) for day, count in connection.execute(query, {"first": first})}


def put_manifest(connection: Connection, day: Published) -> None:
    """Put the day's row as it is now to be; the time of its first publication stays."""
    columns = Published.__slots__
    changed = [name for name in columns if name not in ("day", "first_published_at")]
    statement = (
        f"INSERT INTO lake_manifest ({', '.join(columns)})"
        f" VALUES ({', '.join(f':{name}' for name in columns)})"
        f" ON DUPLICATE KEY UPDATE {', '.join(f'{name} = VALUES({name})' for name in changed)}"
    )
    connection.execute(text(statement), {name: getattr(day, name) for name in columns})


def put_late_changes(connection: Connection, day: date, count: int) -> None:
    statement = text("UPDATE lake_manifest SET late_changes = :count WHERE day = :day")
    connection.execute(statement, {"day": day, "count": count})


def published_counts(connection: Connection, day: date) -> Counts:
    """Return a day's counts as its reports have them."""
    query = text(
        f"SELECT client_id, {', '.join(STATUSES)} FROM report_days FORCE INDEX (ix_report_days_day)"
        " WHERE day = :day AND client_id <> ''"
    )
    found = {}
    for client_id, *numbers in connection.execute(query, {"day": day}):
        for status, number in zip(STATUSES.values(), numbers, strict=True):
            found[client_id, status] = number
    return found


def put_reports_folder(connection: Connection, folder: Folder) -> None:
    statement = text("UPDATE lake_manifest SET reports_run_id = :run WHERE day = :day")
    connection.execute(statement, {"day": folder.day, "run": folder.run_id})


def note_folder(connection: Connection, folder: Folder, now: datetime) -> None:
    """Note a folder before its first byte, so that whatever is left of it is known."""
    statement = text(
        "INSERT INTO lake_folders (day, run_id, kind, begun_at) VALUES (:day, :run, :kind, :now)"
    )
    connection.execute(statement, {**_named(folder), "now": now})


def note_replaced(connection: Connection, by: Folder, now: datetime) -> None:
    """Note that a folder has replaced the others of its kind and day: from now on nobody begins to
    read these."""
    statement = text(
        "UPDATE lake_folders SET replaced_at = :now"
        " WHERE day = :day AND run_id <> :run AND kind = :kind AND replaced_at IS NULL"
    )
    connection.execute(statement, {**_named(by), "now": now})


def unreferenced(connection: Connection, before: datetime) -> list[Folder]:
    """Return folders that no manifest names, and that none has named since then."""
    query = text(
        "SELECT f.day, f.run_id, f.kind FROM lake_folders AS f"
        " LEFT JOIN lake_manifest AS m ON m.day = f.day"
        " AND f.run_id = CASE f.kind WHEN 'reports' THEN m.reports_run_id ELSE m.run_id END"
        " WHERE m.day IS NULL AND COALESCE(f.replaced_at, f.begun_at) < :before"
        " ORDER BY f.day, f.run_id, f.kind"
    )
    return [Folder(*row) for row in connection.execute(query, {"before": before})]


def forget_folder(connection: Connection, folder: Folder) -> None:
    statement = text("DELETE FROM lake_folders WHERE day = :day AND run_id = :run AND kind = :kind")
    connection.execute(statement, _named(folder))


def _named(folder: Folder) -> dict[str, object]:
    return {"day": folder.day, "run": folder.run_id, "kind": folder.kind}


@dataclass(frozen=True, slots=True)
class Run:
    """A run's row: when it began and ended, what it did, and why it failed."""

    run_id: str
    kind: str
    state: str
    started_at: datetime
    ended_at: datetime | None
    days: int
    row_count: int
    late_changes: int
    reason: str | None


def begin_run(connection: Connection, run_id: str, kind: str, now: datetime) -> None:
    """Begin a run; one that says that it is running and hasn't the lock that we have, was
    interrupted."""
    connection.execute(
        text("UPDATE lake_runs SET state = 'interrupted' WHERE state = 'running'"),
    )
    connection.execute(
        text(
            "INSERT INTO lake_runs"
            " (run_id, kind, state, started_at, days, row_count, late_changes)"
            " VALUES (:run, :kind, 'running', :now, 0, 0, 0)"
        ),
        {"run": run_id, "kind": kind, "now": now},
    )


def end_run(connection: Connection, run: Run) -> None:
    statement = text(
        "UPDATE lake_runs SET state = :state, ended_at = :ended_at, days = :days,"
        " row_count = :row_count, late_changes = :late_changes, reason = :reason"
        " WHERE run_id = :run_id"
    )
    connection.execute(statement, {name: getattr(run, name) for name in Run.__slots__})


def latest_runs(connection: Connection, limit: int) -> list[Run]:
    query = text(
        f"SELECT {', '.join(Run.__slots__)} FROM lake_runs"
        " ORDER BY started_at DESC, run_id DESC LIMIT :limit"
    )
    return [Run(*row) for row in connection.execute(query, {"limit": limit})]


def replace_report(
    connection: Connection, table: str, day: date, rows: Iterable[Mapping[str, object]]
) -> None:
    """Replace all that the day has in this table. Names of tables and columns are ours."""
    connection.execute(text(f"DELETE FROM {table} WHERE day = :day"), {"day": day})
    left = iter(rows)
    while part := [dict(row) for row in islice(left, ROWS_AT_ONCE)]:
        places = ", ".join(f":{name}" for name in part[0])
        statement = f"INSERT INTO {table} ({', '.join(part[0])}) VALUES ({places})"
        connection.execute(text(statement), part)


def see_clients(connection: Connection, day: date, clients: Collection[tuple[str, str]]) -> None:
    """Note that these clients had messages on that day. However often and in whatever order days
    are seen, the first and the last of them are kept."""
    statement = text(
        "INSERT INTO report_clients (domain, client_id, first_day, last_day)"
        " VALUES (:domain, :client_id, :day, :day) ON DUPLICATE KEY UPDATE"
        " first_day = LEAST(first_day, VALUES(first_day)),"
        " last_day = GREATEST(last_day, VALUES(last_day))"
    )
    if clients:
        rows = [{"domain": one[0], "client_id": one[1], "day": day} for one in sorted(clients)]
        connection.execute(statement, rows)
