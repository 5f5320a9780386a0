"""Settle: how attempts ended that did not deliver. A failure is in the ledger before the queue
forgets the message (I5); a retry is noted, so that people can see why a message is late."""

from collections.abc import Sequence

from sqlalchemy import Connection, Engine

from gatepost.clock import from_ms
from gatepost.contract import SettleItem, Settlement
from main_server.database import transact
from main_server.keys.service import Keyring
from main_server.messages import repository
from main_server.messages.arrivals import arrive, failed_row


def settle(engine: Engine, keyring: Keyring, items: Sequence[SettleItem]) -> None:
    """All of it is committed when this returns."""
    ordered = sorted(items, key=lambda item: item.message_id)
    transact(engine, lambda connection: _settle(connection, keyring, ordered))


def _settle(connection: Connection, keyring: Keyring, items: Sequence[SettleItem]) -> None:
    standings = repository.lock_standings(connection, [item.message_id.bytes for item in items])
    for item in items:
        message_id = item.message_id.bytes
        if item.outcome is Settlement.RETRY and item.due_at is not None:
            repository.note_retry(connection, message_id, item.attempt, from_ms(item.due_at))
        elif message_id in standings:
            repository.mark_failed(connection, [message_id], item.attempt, item.reason)
        elif (arrival := arrive(keyring, item.envelope)) is not None:
            row = failed_row(arrival.envelope, item.reason, item.attempt)
            repository.insert_ended(connection, [row])
    repository.add_attempts(connection, [_attempt(item) for item in items])


def _attempt(item: SettleItem) -> dict[str, object]:
    return {
        "message_id": item.message_id.bytes,
        "attempt": item.attempt,
        "started_at": from_ms(item.started_at),
        "ended_at": from_ms(item.ended_at),
        "outcome": item.outcome.value,
        "reason": item.reason,
    }
