"""SQL for the runs of retention: how each ended, and what it has taken away, by client and day.

Rows that go in transactions are counted in the same ones. A partition isn't dropped by a
transaction: what is in it is counted before, as not done yet.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.dialects.mysql import insert as upsert

from main_server.store.tables import audit_log, retention_counts, retention_runs

_r, _c = retention_runs.c, retention_counts.c
BY_ROWS = ""
"""The partition of counts whose rows were not dropped with one."""


@dataclass(frozen=True, slots=True)
class Run:
    run_id: str
    state: str
    actor: str
    started_at: datetime
    ended_at: datetime | None
    row_count: int
    key_count: int
    partition_count: int
    policies: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class Count:
    client_id: str
    day: date
    dropped_with: str
    row_count: int
    key_count: int


_RUN = [_r[name] for name in Run.__slots__]
_COUNT = [_c[name] for name in Count.__slots__]


def begin_run(connection: Connection, run: Run) -> None:
    values = {name: getattr(run, name) for name in Run.__slots__}
    connection.execute(insert(retention_runs).values(values))


def end_run(connection: Connection, run: Run) -> None:
    names = ("state", "ended_at", "row_count", "key_count", "partition_count", "reason")
    statement = update(retention_runs).where(_r.run_id == run.run_id)
    connection.execute(statement.values({name: getattr(run, name) for name in names}))


def latest_runs(connection: Connection, limit: int) -> list[Run]:
    query = select(*_RUN).order_by(_r.started_at.desc(), _r.run_id.desc()).limit(limit)
    return [Run(*row) for row in connection.execute(query)]


def last_done(connection: Connection) -> Run | None:
    query = select(*_RUN).where(_r.state == "done").order_by(_r.started_at.desc()).limit(1)
    row = connection.execute(query).one_or_none()
    return Run(*row) if row else None


def last_restored(connection: Connection) -> datetime | None:
    """Return when this ledger last came out of a backup: `gatepost backup restore` notes it."""
    c = audit_log.c
    query = select(func.max(c.at)).where(c.domain.is_(None), c.action == "ledger.restored")
    found: datetime | None = connection.execute(query).scalar_one()
    return found


def interrupted_runs(connection: Connection) -> list[Run]:
    """Return runs that say that they are running, though nobody is: whoever asks has the lock."""
    query = select(*_RUN).where(_r.state == "running").order_by(_r.started_at)
    return [Run(*row) for row in connection.execute(query)]


def add(
    connection: Connection, run_id: str, client_id: str, day: date, *, rows: int = 0, keys: int = 0
) -> None:
    """Add to what the run has taken away, in the transaction in which the rows and keys go."""
    row = {
        "run_id": run_id,
        "client_id": client_id,
        "day": day,
        "dropped_with": BY_ROWS,
        "row_count": rows,
        "key_count": keys,
        "done": 1,
    }
    statement = upsert(retention_counts).values(row)
    more = {"row_count": _c.row_count + rows, "key_count": _c.key_count + keys}
    connection.execute(statement.on_duplicate_key_update(more))


def foresee(
    connection: Connection, run_id: str, partition: str, counts: Sequence[tuple[str, date, int]]
) -> None:
    """Note what goes with a partition, if it is dropped."""
    forget(connection, run_id, partition)
    rows = [
        {
            "run_id": run_id,
            "client_id": client_id,
            "day": day,
            "dropped_with": partition,
            "row_count": count,
            "key_count": 0,
            "done": 0,
        }
        for client_id, day, count in counts
    ]
    if rows:
        connection.execute(insert(retention_counts), rows)


def forget(connection: Connection, run_id: str, partition: str) -> None:
    where = (_c.run_id == run_id, _c.dropped_with == partition, _c.done == 0)
    connection.execute(delete(retention_counts).where(*where))


def confirm(connection: Connection, run_id: str, partition: str) -> None:
    where = (_c.run_id == run_id, _c.dropped_with == partition)
    connection.execute(update(retention_counts).where(*where).values(done=1))


def foreseen(connection: Connection, run_id: str) -> list[str]:
    """Return the partitions of which it isn't said whether they were dropped."""
    query = select(_c.dropped_with).distinct().where(_c.run_id == run_id, _c.done == 0)
    return list(connection.execute(query).scalars())


def list_counts(connection: Connection, run_id: str) -> list[Count]:
    query = select(*_COUNT).where(_c.run_id == run_id, _c.done == 1)
    rows = connection.execute(query.order_by(_c.client_id, _c.day))
    return [Count(*row) for row in rows]


def count_partitions(connection: Connection, run_id: str) -> int:
    query = select(func.count(_c.dropped_with.distinct())).where(
        _c.run_id == run_id, _c.dropped_with != BY_ROWS, _c.done == 1
    )
    return int(connection.execute(query).scalar_one())


def forget_old(connection: Connection, before: datetime, limit: int) -> int:
    """Delete what runs of long ago have noted by client and day; the audit log keeps their sums."""
    old = select(_r.run_id).where(_r.started_at < before).order_by(_r.started_at).limit(limit)
    return _forget(connection, list(connection.execute(old).scalars()))


def forget_ahead(connection: Connection, after: datetime) -> int:
    """Delete runs whose times are yet to come: nothing can be measured by them any more."""
    ahead = select(_r.run_id).where(_r.started_at > after)
    return _forget(connection, list(connection.execute(ahead).scalars()))


def _forget(connection: Connection, ids: list[str]) -> int:
    if ids:
        connection.execute(delete(retention_counts).where(_c.run_id.in_(ids)))
        connection.execute(delete(retention_runs).where(_r.run_id.in_(ids)))
    return len(ids)
