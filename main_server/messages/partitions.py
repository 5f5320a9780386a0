"""The partitions of `messages` and `attempts`: a day each, so that a day can be dropped at once.

A range of UUIDv7 ids is a range of time. Behind the last day stands a MAXVALUE partition that must
stay empty: dividing it costs nothing as long as it is. So does dividing a day to come, where one is
missing before it.

MariaDB writes down the names of a table's partitions in a file that it never flushes. Until the
kernel does, half a minute later, a power cut empties that file, and the table can't be read any
more. So the disks of this machine are flushed right after (decision 0021).
"""

import os
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from functools import partial

from sqlalchemy import Connection, Engine, text

from gatepost.ids import first_id_at
from main_server.store.database import transact

DAYS_AHEAD = 14
LAST = "pmax"
"""The last partition, which is to be empty."""
LOCK = "gatepost.partitions"
"""The lock in the database: whoever has it divides partitions, and as long as a backup has it
nobody does."""
TABLES = ("messages", "attempts")


def ensure_partitions(engine: Engine, today: date) -> list[date]:
    """Make the days that are missing, from yesterday to two weeks ahead; return those made."""
    made = [transact(engine, partial(_ensure, table=table, today=today)) for table in TABLES]
    if any(made):
        os.sync()
    return sorted({day for days in made for day in days})


def _ensure(connection: Connection, table: str, today: date) -> list[date]:
    if not missing_days(list_names(connection, table), today):
        return []
    if not connection.scalar(text("SELECT GET_LOCK(:name, 10)"), {"name": LOCK}):
        return []
    try:
        missing = missing_days(list_names(connection, table), today)
        connection.execute(text("SET SESSION lock_wait_timeout = 5"))
        for divided, days in missing.items():
            connection.execute(text(reorganize(table, days, divided)))
        return [day for days in missing.values() for day in days]
    finally:
        connection.execute(text("SET SESSION lock_wait_timeout = DEFAULT"))
        connection.execute(text("SELECT RELEASE_LOCK(:name)"), {"name": LOCK})


def missing_days(existing: Iterable[str], today: date) -> dict[str, list[date]]:
    """Return the days missing from yesterday to two weeks ahead, by the partition that is divided
    for them.

    No day that has begun is put before another: what lies there would have to move. And none is put
    before the first, as a clock that is set back would have it.
    """
    names = sorted(name for name in existing if name != LAST)
    found: dict[str, list[date]] = {}
    for day in (today + timedelta(days=n) for n in range(-1, DAYS_AHEAD + 1)):
        name = partition_name(day)
        following = next((one for one in names if one >= name), LAST)
        is_gap = following != name and day > today and names[:1] < [name]
        if following == LAST or is_gap:
            found.setdefault(following, []).append(day)
    return found


def days_ahead(connection: Connection, table: str, today: date) -> int:
    """Return for how many days after today there are partitions."""
    latest = max((name for name in list_names(connection, table) if name != LAST), default="")
    if not latest:
        return 0
    return (datetime.strptime(latest, "p%Y%m%d").date() - today).days


def gaps(connection: Connection, table: str, today: date) -> list[date]:
    """List the days to come that have no partition, though a later one has."""
    missing = missing_days(list_names(connection, table), today)
    return [day for divided, days in missing.items() if divided != LAST for day in days]


def reorganize(table: str, days: Iterable[date], divided: str = LAST) -> str:
    """Return the statement that divides a partition. Its parts are dates, nothing that was sent."""
    parts = [_part(day) for day in days]
    parts.append(
        f"PARTITION {LAST} VALUES LESS THAN (MAXVALUE)" if divided == LAST else _of(divided)
    )
    return f"ALTER TABLE {table} REORGANIZE PARTITION {divided} INTO ({', '.join(parts)})"


def _of(name: str) -> str:
    return _part(datetime.strptime(name, "p%Y%m%d").date())


def _part(day: date) -> str:
    return f"PARTITION {partition_name(day)} VALUES LESS THAN (x'{_end_of(day).hex()}')"


def partition_name(day: date) -> str:
    return f"p{day:%Y%m%d}"


def _end_of(day: date) -> bytes:
    following = datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=1)
    return first_id_at(int(following.timestamp() * 1000))


def list_names(connection: Connection, table: str) -> list[str]:
    query = text(
        "SELECT partition_name FROM information_schema.partitions"
        " WHERE table_schema = DATABASE() AND table_name = :table"
        " AND partition_name IS NOT NULL"
    )
    return [str(row[0]) for row in connection.execute(query, {"table": table})]
