"""SQL for the list of destroyed keys: none of them is made, used or restored again."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime

from sqlalchemy import Connection, select, update
from sqlalchemy.dialects.mysql import insert

from main_server.keys.repository import DataKey, Pair
from main_server.store.tables import destroyed_keys as table


@dataclass(frozen=True, slots=True)
class DestroyedKey:
    """A key that was destroyed; `finished_at` is None as long as the rows of a destroyed day are
    being erased."""

    kind: str
    kid: bytes
    client_id: str | None
    day: date | None
    cause: str
    destroyed_at: datetime
    finished_at: datetime | None


_columns = [table.c[name] for name in DestroyedKey.__slots__]


def of_data_key(key: DataKey, cause: str, now: datetime, finished: datetime | None) -> DestroyedKey:
    return DestroyedKey("data", kid_of(key.key_id), key.client_id, key.day, cause, now, finished)


def kid_of(key_id: int) -> bytes:
    """Return a data key's id as the list has it."""
    return key_id.to_bytes(8, "big")


def add_destroyed(connection: Connection, key: DestroyedKey) -> None:
    row = {name: getattr(key, name) for name in DestroyedKey.__slots__}
    connection.execute(insert(table).values(row).on_duplicate_key_update(kid=table.c.kid))


def list_destroyed(connection: Connection) -> list[DestroyedKey]:
    query = select(*_columns).order_by(table.c.destroyed_at, table.c.kind, table.c.kid)
    return [DestroyedKey(*row) for row in connection.execute(query)]


def find_destroyed(connection: Connection, kind: str, kid: bytes) -> DestroyedKey | None:
    query = select(*_columns).where(table.c.kind == kind, table.c.kid == kid)
    row = connection.execute(query).first()
    return DestroyedKey(*row) if row else None


def erased_days(connection: Connection, wanted: Iterable[Pair]) -> set[Pair]:
    """Return those of these days whose messages were erased: they never get a key again."""
    pairs = set(wanted)
    query = select(table.c.client_id, table.c.day).where(
        table.c.client_id.in_({client_id for client_id, _ in pairs}),
        table.c.day.in_({day for _, day in pairs}),
        table.c.cause == "erased",
    )
    return {(row[0], row[1]) for row in connection.execute(query)} & pairs


def find_erased_day(connection: Connection, pair: Pair) -> DestroyedKey | None:
    client_id, day = pair
    query = select(*_columns).where(
        table.c.client_id == client_id, table.c.day == day, table.c.cause == "erased"
    )
    row = connection.execute(query).first()
    return DestroyedKey(*row) if row else None


def mark_finished(connection: Connection, pair: Pair, now: datetime) -> None:
    """Note that all rows of this day are erased."""
    client_id, day = pair
    statement = update(table).where(
        table.c.client_id == client_id,
        table.c.day == day,
        table.c.cause == "erased",
        table.c.finished_at.is_(None),
    )
    connection.execute(statement.values(finished_at=now))
