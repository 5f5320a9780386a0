"""Settle: how attempts ended that did not deliver. A failure is in the ledger before the queue
forgets the message (I5); a retry is noted, so that people can see why a message is late.

A message that the ledger hears of only now claims its Idempotency-Key as any other does, or it
could be delivered beside the one that has it, once it is redriven (I2).
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Engine

from gatepost.clock import from_ms
from gatepost.wire.contract import SettleItem, Settlement
from main_server.keys.data_keys import DataKeys, HeldKeys
from main_server.keys.service import Keyring
from main_server.messages import repository
from main_server.messages.arrivals import (
    KEY_CONFLICT,
    Arrival,
    arrive,
    duplicate_row,
    failed_row,
    readable,
    storable,
)
from main_server.messages.bisect import bisect
from main_server.messages.key_claims import Claims, claim_keys, conflicts, find_first
from main_server.messages.lasting import make_lasting
from main_server.messages.repository import Standing
from main_server.store.database import transact


def settle(engine: Engine, keyring: Keyring, items: Sequence[SettleItem]) -> list[UUID]:
    """Settle items: all of it is committed when this returns, but for those of which nothing can be
    stored; return the ids of these.

    They leave nothing but their id in our caller's log: their batch must be able to end (I5).
    """
    if not items:
        return []
    ordered = sorted(items, key=lambda item: item.message_id)
    arrivals = _arrivals(keyring, ordered)
    data_keys = keyring.data_keys(engine, readable(arrivals.values()))

    def work(part: Sequence[SettleItem]) -> list[UUID]:
        transact(engine, lambda c: _settle(c, keyring, data_keys, arrivals, part))
        return []

    return bisect(work, ordered, lambda item: item.message_id)


def _arrivals(keyring: Keyring, items: Sequence[SettleItem]) -> dict[UUID, Arrival]:
    """Return the envelopes that came, each under the id that it carries itself."""
    arrived = {item.message_id: arrive(keyring, item.envelope) for item in items if item.envelope}
    return {
        message_id: arrival
        for message_id, arrival in arrived.items()
        if arrival is not None and arrival.envelope.message_id == message_id
    }


def _settle(
    connection: Connection,
    keyring: Keyring,
    data_keys: DataKeys,
    arrivals: Mapping[UUID, Arrival],
    items: Sequence[SettleItem],
) -> None:
    held = data_keys.hold(connection)  # before any row, as everybody does
    standings = repository.lock_standings(connection, [item.message_id.bytes for item in items])
    new = {
        item.message_id: storable(arrivals[item.message_id], held)
        for item in items
        if item.outcome is Settlement.FAILED
        and item.message_id.bytes not in standings
        and item.message_id in arrivals
    }
    claims = claim_keys(connection, new.values())
    for item in items:
        if standing := standings.get(item.message_id.bytes):
            _advance(connection, item, standing)
        elif arrival := new.get(item.message_id):
            row = _ended_row(keyring, held, arrival, claims, item)
            repository.insert_ended(connection, [row])
    repository.add_attempts(connection, [_attempt(item) for item in items])
    make_lasting(connection)


def _ended_row(
    keyring: Keyring, held: HeldKeys, arrival: Arrival, claims: Claims, item: SettleItem
) -> dict[str, Any]:
    """Return the row of a message that has none, as it was never registered."""
    first = find_first(arrival.envelope, claims) if arrival.content is not None else None
    if first is not None and not conflicts(arrival.envelope, first):
        return duplicate_row(arrival.envelope, first.message_id)
    opened = arrival.content is not None or arrival.locked
    reason = KEY_CONFLICT if first else item.reason if opened else "unreadable"
    return failed_row(keyring, held, arrival, reason, item.attempt)


def _advance(connection: Connection, item: SettleItem, standing: Standing) -> None:
    """Advance a row. What is said, or said again, of a life before the message was redriven changes
    nothing."""
    if item.generation != standing.generation:
        return
    message_id = item.message_id.bytes
    if item.outcome is Settlement.FAILED:
        repository.mark_failed(connection, [message_id], item.attempt, item.reason)
    elif item.due_at is not None:
        repository.note_retry(connection, message_id, item.attempt, from_ms(item.due_at))


def _attempt(item: SettleItem) -> dict[str, object]:
    return {
        "message_id": item.message_id.bytes,
        "attempt": item.attempt,
        "started_at": from_ms(item.started_at),
        "ended_at": from_ms(item.ended_at),
        "outcome": item.outcome.value,
        "reason": item.reason,
    }
