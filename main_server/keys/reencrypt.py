"""Reencrypt a client's day: give it another data key, for one that has become known.

From the first step on nothing new is sealed under the old key; then its rows are sealed again, a
few at a time, while messages arrive; it is destroyed when no row needs it. Begun again after any
interruption, it goes on where it was.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from sqlalchemy import Connection, Engine

from gatepost.errors import CannotOpen, GatepostError, NotFound
from main_server.keys import repository
from main_server.keys.data_keys import new_data_key, unwrap
from main_server.keys.destroyed_repository import add_destroyed, of_data_key
from main_server.keys.master import MasterKeys
from main_server.keys.repository import DataKey, Pair
from main_server.keys.rows import repository as rows
from main_server.keys.rows.form import open_row, seal_row
from main_server.keys.rows.repository import SealedRow
from main_server.store.database import transact

BATCH = 200


class NotAllMoved(GatepostError):
    """Some messages could not be opened under the old key; it was not destroyed."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A data key and what takes its place."""

    old: DataKey
    new: DataKey


def reencrypt(engine: Engine, masters: MasterKeys, pair: Pair) -> Iterator[int]:
    """Reencrypt a day; yield how many rows have been done, again and again, until all are."""
    exchange = transact(engine, lambda connection: begin(connection, masters, pair))
    start, moved = rows.first_id_of(pair[1]), 0
    under_old = partial(rows.list_sealed, pair=pair, key_id=exchange.old.key_id, limit=BATCH)
    while batch := transact(engine, partial(under_old, start=start)):
        moved += _move(engine, masters, exchange, batch)
        start = rows.id_after(batch[-1].message_id)
        yield moved
    transact(engine, lambda connection: _finish(connection, exchange))


def begin(connection: Connection, masters: MasterKeys, pair: Pair) -> Exchange:
    """Begin the exchange, after waiting for all who hold the old key. From here on they get the new
    one."""
    master = masters.get(repository.own_master(connection))
    day = repository.lock_day(connection, pair)
    if "current" not in day:
        raise NotFound("This client has no data key for this day.")
    if "retired" in day:
        return Exchange(day["retired"], day["current"])  # begun before, and interrupted
    old = day["current"]
    new = new_data_key(master, pair, repository.read_time(connection))
    repository.retire_data_key(connection, old.key_id)
    repository.add_data_keys(connection, [new])
    return Exchange(old, new)


def _move(engine: Engine, masters: MasterKeys, exchange: Exchange, batch: list[SealedRow]) -> int:
    old, new = exchange.old, exchange.new
    old_key, new_key = unwrap(masters, old), unwrap(masters, new)
    bodies = {}
    for row in batch:
        named = UUID(bytes=row.message_id), row.client_id, row.domain
        try:
            content = open_row(old_key, old.key_id, *named, row.encrypted_body)
        except CannotOpen:
            continue  # told at the end, when it keeps the old key from being destroyed
        bodies[row.message_id] = seal_row(new_key, new.key_id, *named, content)
    if bodies:
        transact(engine, lambda c: rows.change_bodies(c, old.key_id, new.key_id, bodies))
    return len(bodies)


def _finish(connection: Connection, exchange: Exchange) -> None:
    """Destroy the old key. It is nobody's any more: since it was retired no row can get it."""
    old = exchange.old
    repository.own_master(connection)
    day = repository.lock_day(connection, old.pair)
    if "retired" not in day or day["retired"].key_id != old.key_id:
        return  # another has finished it
    if rows.list_sealed(connection, old.pair, old.key_id, rows.first_id_of(old.day), 1):
        raise NotAllMoved()
    now = repository.read_time(connection)
    add_destroyed(connection, of_data_key(old, "reencrypted", now, now))
    repository.delete_data_key(connection, old)
