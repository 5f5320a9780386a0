"""Destroy a client's day: its data key goes first, and with it every copy of its messages.

From that moment no backup, replica or archive of the ledger opens them. Then the rows lose body and
number, a few at a time; begun again after any interruption, it goes on. It is refused as long as a
message of the day may still be delivered, and while a legal hold is on the client or its domain:
that is asked in each transaction that takes something away, and nobody sets a hold meanwhile.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from uuid import UUID

from sqlalchemy import Connection, Engine

from gatepost.errors import GatepostError, NotFound
from main_server.audit import repository as audit
from main_server.audit.chain import Entry
from main_server.keys import repository
from main_server.keys.destroyed_repository import (
    DestroyedKey,
    add_destroyed,
    find_erased_day,
    mark_finished,
    of_data_key,
)
from main_server.keys.lifetimes import destroyable_from
from main_server.keys.repository import DataKey, Pair
from main_server.keys.rows import repository as rows
from main_server.store.database import transact
from main_server.tenants import hold_repository as holds
from main_server.tenants.policy import domain_of

BATCH = 500


class TooEarly(GatepostError):
    """Messages of this day may still be delivered."""


class Held(GatepostError):
    """A legal hold is on this client, or on its domain."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan of what destroying would do; `destroyed` is set where it was begun, or is done,
    already."""

    keys: list[DataKey]
    messages: dict[str, int]
    destroyed: DestroyedKey | None
    refusal: Held | TooEarly | None


def plan(engine: Engine, pair: Pair, our_time: datetime) -> Plan:
    def work(connection: Connection) -> Plan:
        keys = repository.list_data_keys(connection, *pair)
        destroyed = find_erased_day(connection, pair)
        messages = rows.count_by_status(connection, pair)
        early = None if destroyed else _too_early(connection, pair, our_time, messages)
        return Plan(keys, messages, destroyed, _held(connection, pair[0]) or early)

    return transact(engine, work)


def destroy(engine: Engine, pair: Pair, our_time: datetime, actor: str) -> Iterator[int]:
    """Destroy a day; yield how many rows were erased, again and again, until it is done. Raise Held
    if there is a legal hold, TooEarly if messages may still be delivered."""
    transact(engine, partial(_begin, pair=pair, our_time=our_time, actor=actor))
    start, erased = rows.first_id_of(pair[1]), 0
    of_day = partial(rows.list_ids, pair=pair, limit=BATCH)
    while ids := transact(engine, partial(of_day, start=start)):
        erased += transact(engine, partial(_erase, client_id=pair[0], ids=ids))
        start = rows.id_after(ids[-1])
        yield erased
    transact(engine, lambda c: mark_finished(c, pair, repository.read_time(c)))


def destroy_key(connection: Connection, pair: Pair, our_time: datetime) -> Mapping[str, int] | None:
    """Destroy a day's key: after this, nothing opens the day. Wait for all who hold the key;
    whether there is a legal hold is for the caller to check. Return the day's messages by status;
    None if its key was destroyed before."""
    repository.own_master(connection)
    keys = repository.lock_day(connection, pair).values()
    if find_erased_day(connection, pair):
        return None
    if not keys:
        raise NotFound("This client has no data key for this day.")
    messages = rows.count_by_status(connection, pair)
    if early := _too_early(connection, pair, our_time, messages):
        raise early
    now = repository.read_time(connection)
    for key in keys:
        add_destroyed(connection, of_data_key(key, "erased", now, None))
        repository.delete_data_key(connection, key)
    return messages


def _begin(connection: Connection, pair: Pair, our_time: datetime, actor: str) -> None:
    _demand_free(connection, pair[0])
    messages = destroy_key(connection, pair, our_time)
    if messages is not None:
        client_id, day = pair
        details = {"day": day.isoformat(), "messages": messages}
        entry = Entry(actor, "key.destroyed", client_id, domain_of(client_id), details)
        audit.append(connection, entry, repository.read_time(connection))


def _erase(connection: Connection, client_id: str, ids: Sequence[bytes]) -> int:
    _demand_free(connection, client_id)
    return rows.erase(connection, ids)


def _demand_free(connection: Connection, client_id: str) -> None:
    """Raise Held if there is a legal hold. Whoever sets one waits until this transaction has ended,
    or has come before it."""
    holds.share(connection)
    if held := _held(connection, client_id):
        raise held


def _held(connection: Connection, client_id: str) -> Held | None:
    found = holds.list_holds(connection, domain_of(client_id), client_id)
    if not found:
        return None
    said = [
        f"{one.client_id or one.domain} is on legal hold since {one.set_at:%Y-%m-%d}: {one.reason}"
        f"\n  gatepost retention lift {UUID(bytes=one.hold_id)} --reason WORDS"
        for one in found
    ]
    return Held("\n".join([*said, "Nothing goes until the last hold is lifted."]))


def _too_early(
    connection: Connection, pair: Pair, our_time: datetime, messages: Mapping[str, int]
) -> TooEarly | None:
    """Return a refusal if it is too early. The one of the two clocks that is behind counts: too
    late does no harm, too early is a loss."""
    possible = destroyable_from(pair[1])
    if min(repository.read_time(connection), our_time) < possible:
        return TooEarly(f"This day can be destroyed from {possible:%Y-%m-%d %H:%M} UTC on.")
    if queued := messages.get("queued", 0):
        return TooEarly(f"{queued} messages of this day still say that they are queued.")
    return None
