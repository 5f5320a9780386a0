"""Settle: how attempts ended that did not deliver. A failure is in the ledger before the queue
forgets the message (I5); a retry is noted, so that people can see why a message is late."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from sqlalchemy import Connection, Engine

from gatepost.clock import from_ms
from gatepost.contract import SettleItem, Settlement
from main_server.database import transact
from main_server.keys.data_keys import DataKeys
from main_server.keys.service import Keyring
from main_server.messages import repository
from main_server.messages.arrivals import Arrival, arrive, failed_row, readable
from main_server.messages.bisect import bisect
from main_server.messages.repository import Standing


def settle(engine: Engine, keyring: Keyring, items: Sequence[SettleItem]) -> list[UUID]:
    """All of it is committed when this returns, but for those of which nothing can be stored.

    These leave nothing but their id in our caller's log: their batch must be able to end (I5).
    """
    if not items:
        return []
    ordered = sorted(items, key=lambda item: item.message_id)
    arrived = {i.message_id: arrive(keyring, i.envelope) for i in ordered if i.envelope}
    arrivals = {message_id: a for message_id, a in arrived.items() if a is not None}
    data_keys = keyring.data_keys(engine, readable(arrivals.values()))

    def work(part: Sequence[SettleItem]) -> list[UUID]:
        transact(engine, lambda c: _settle(c, keyring, data_keys, arrivals, part))
        return []

    return bisect(work, ordered, lambda item: item.message_id)


def _settle(
    connection: Connection,
    keyring: Keyring,
    data_keys: DataKeys,
    arrivals: Mapping[UUID, Arrival],
    items: Sequence[SettleItem],
) -> None:
    held = data_keys.hold(connection)  # before any row, as everybody does
    standings = repository.lock_standings(connection, [item.message_id.bytes for item in items])
    for item in items:
        if standing := standings.get(item.message_id.bytes):
            _advance(connection, item, standing)
        elif item.outcome is Settlement.FAILED and item.message_id in arrivals:
            arrival = arrivals[item.message_id]
            opened = arrival.content is not None or arrival.locked
            reason = item.reason if opened else "unreadable"
            row = failed_row(keyring, held, arrival, reason, item.attempt)
            repository.insert_ended(connection, [row])
    repository.add_attempts(connection, [_attempt(item) for item in items])


def _advance(connection: Connection, item: SettleItem, standing: Standing) -> None:
    """What is said, or said again, of a life before the message was redriven changes nothing."""
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
