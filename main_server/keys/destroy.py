"""Destroying a client's day: its data key goes first, and with it every copy of its messages.

From that moment no backup, replica or archive of the ledger opens them. Then the rows lose body and
number, a few at a time; begun again after any interruption, it goes on. It is refused as long as a
message of the day may still be delivered.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from sqlalchemy import Connection, Engine

from gatepost.errors import GatepostError, NotFound
from main_server.database import transact
from main_server.keys import repository
from main_server.keys.destroyed.repository import (
    DestroyedKey,
    add_destroyed,
    find_erased_day,
    mark_finished,
    of_data_key,
)
from main_server.keys.lifetimes import destroyable_from
from main_server.keys.repository import DataKey, Pair
from main_server.keys.rows import repository as rows

BATCH = 500


class TooEarly(GatepostError):
    """Messages of this day may still be delivered."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What destroying would do; `destroyed` is set where it was begun, or is done, already."""

    keys: list[DataKey]
    messages: dict[str, int]
    destroyed: DestroyedKey | None
    refusal: str | None


def plan(engine: Engine, pair: Pair, our_time: datetime) -> Plan:
    def work(connection: Connection) -> Plan:
        keys = repository.list_data_keys(connection, *pair)
        destroyed = find_erased_day(connection, pair)
        refusal = None if destroyed else _refusal(connection, pair, our_time)
        return Plan(keys, rows.count_by_status(connection, pair), destroyed, refusal)

    return transact(engine, work)


def destroy(engine: Engine, pair: Pair, our_time: datetime) -> Iterator[int]:
    """Yields how many rows were erased, again and again; done when it ends."""
    transact(engine, lambda connection: destroy_key(connection, pair, our_time))
    start, erased = rows.first_id_of(pair[1]), 0
    of_day = partial(rows.list_ids, pair=pair, limit=BATCH)
    while ids := transact(engine, partial(of_day, start=start)):
        erased += transact(engine, partial(rows.erase, ids=ids))
        start = rows.id_after(ids[-1])
        yield erased
    transact(engine, lambda c: mark_finished(c, pair, repository.read_time(c)))


def destroy_key(connection: Connection, pair: Pair, our_time: datetime) -> None:
    """The moment after which nothing opens the day. Waits for all who hold its key."""
    repository.own_master(connection)
    keys = repository.lock_day(connection, pair).values()
    if find_erased_day(connection, pair):
        return
    if not keys:
        raise NotFound("This client has no data key for this day.")
    if refusal := _refusal(connection, pair, our_time):
        raise TooEarly(refusal)
    now = repository.read_time(connection)
    for key in keys:
        add_destroyed(connection, of_data_key(key, "erased", now, None))
        repository.delete_data_key(connection, key)


def _refusal(connection: Connection, pair: Pair, our_time: datetime) -> str | None:
    """Of the two clocks the one that is behind counts: too late is nothing, too early is a loss."""
    possible = destroyable_from(pair[1])
    if min(repository.read_time(connection), our_time) < possible:
        return f"This day can be destroyed from {possible:%Y-%m-%d %H:%M} UTC on."
    queued = rows.count_by_status(connection, pair).get("queued", 0)
    if queued:
        return f"{queued} messages of this day still say that they are queued."
    return None
