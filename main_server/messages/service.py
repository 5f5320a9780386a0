"""Deliver: a message is delivered when its row says so, and no more than once (I2).

What a row already says decides. A message without a row needs its envelope, which is opened, and
sealed again for rest, before the transaction begins.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any
from uuid import UUID

import msgspec
from sqlalchemy import Connection, Engine

from gatepost.clock import Clock, from_ms, iso, to_ms
from gatepost.content import decode_content
from gatepost.delivering import DeliverResult, DeliveryOffer, Result
from gatepost.envelope import Envelope, decode
from gatepost.errors import CannotOpen
from main_server.database import transact
from main_server.keys.service import DataKeys, Keyring
from main_server.messages import repository
from main_server.messages.repository import DELIVERABLE, Standing

DEFAULT_PRIORITY = 5

_ENDED = {"delivered": Result.ALREADY, "erased": Result.ERASED, "duplicate": Result.DUPLICATE}


@dataclass(frozen=True, slots=True)
class Arrival:
    """An envelope that came with an offer; without content it could not be opened."""

    envelope: Envelope
    content: bytes | None


def deliver(
    engine: Engine, keyring: Keyring, clock: Clock, queue: str, offers: Sequence[DeliveryOffer]
) -> list[DeliverResult]:
    """One result for each offer, in order; what it says is committed when this returns."""
    arrivals = {o.message_id: a for o in offers if (a := _arrive(keyring, o))}
    data_keys = keyring.data_keys(engine, [a.envelope for a in arrivals.values()])

    def work(connection: Connection) -> list[DeliverResult]:
        now = clock.now_ms()
        ids = sorted({offer.message_id.bytes for offer in offers})
        standings = repository.lock_standings(connection, ids)
        results = [
            decide(
                offer, standings.get(offer.message_id.bytes), arrivals.get(offer.message_id), now
            )
            for offer in offers
        ]
        _update(connection, offers, results, standings, from_ms(now))
        rows = [
            _row(keyring, data_keys, arrivals[offer.message_id], offer, result, queue, now)
            for offer, result in zip(offers, results, strict=True)
            if offer.message_id.bytes not in standings and offer.message_id in arrivals
        ]
        if rows:
            repository.insert_ended(connection, rows)
        return results

    return transact(engine, work)


def decide(
    offer: DeliveryOffer, standing: Standing | None, arrival: Arrival | None, now: int
) -> DeliverResult:
    """What becomes of one offer. Pure: the effects follow from the result."""

    def result(kind: Result, reason: str | None = None) -> DeliverResult:
        return DeliverResult(message_id=offer.message_id, result=kind, reason=reason)

    if standing is not None:
        if standing.status in _ENDED:
            return result(_ENDED[standing.status])
        expired = to_ms(standing.expires_at) <= now
        return result(Result.EXPIRED if expired else Result.DELIVERED)
    if not offer.envelope:
        return result(Result.SEND_ENVELOPE)
    if arrival is None or arrival.content is None:
        return result(Result.REFUSED, "unreadable")
    return result(Result.EXPIRED if arrival.envelope.expires_at <= now else Result.DELIVERED)


def find_status(engine: Engine, message_id: UUID, client_id: str) -> dict[str, Any] | None:
    row = transact(engine, lambda c: repository.find_status(c, message_id.bytes, client_id))
    if row is None:
        return None
    delivered_at = row["delivered_at"]
    return {
        "message_id": str(message_id),
        "status": row["status"],
        "created_at": iso(to_ms(row["created_at"])),
        "queued_at": iso(to_ms(row["queued_at"])),
        "delivered_at": iso(to_ms(delivered_at)) if delivered_at else None,
        "attempt_count": row["attempt_count"],
    }


def _arrive(keyring: Keyring, offer: DeliveryOffer) -> Arrival | None:
    """None where no envelope of that message came."""
    if not offer.envelope:
        return None
    try:
        envelope = decode(bytes(offer.envelope))
    except msgspec.MsgspecError:
        return None
    if envelope.message_id != offer.message_id:
        return None
    try:
        return Arrival(envelope, keyring.open_envelope(envelope))
    except CannotOpen:
        return Arrival(envelope, None)


def _update(
    connection: Connection,
    offers: Sequence[DeliveryOffer],
    results: Sequence[DeliverResult],
    standings: dict[bytes, Standing],
    now: datetime,
) -> None:
    """Ends the rows that were there: one statement for each kind of end and number of attempt."""
    ends = sorted(
        (result.result, offer.attempt, offer.message_id.bytes)
        for offer, result in zip(offers, results, strict=True)
        if offer.message_id.bytes in standings
        and standings[offer.message_id.bytes].status in DELIVERABLE
    )
    for (kind, attempt), group in groupby(ends, key=lambda end: end[:2]):
        ids = [end[2] for end in group]
        if kind is Result.DELIVERED:
            repository.mark_delivered(connection, ids, attempt, now)
        else:
            repository.mark_expired(connection, ids, attempt)


def _row(
    keyring: Keyring,
    data_keys: DataKeys,
    arrival: Arrival,
    offer: DeliveryOffer,
    result: DeliverResult,
    queue: str,
    now: int,
) -> dict[str, Any]:
    """The row of a message that the ledger meets here for the first time.

    One that can't be delivered any more leaves its row, but no body.
    """
    envelope, content = arrival.envelope, arrival.content
    row: dict[str, Any] = {
        "message_id": envelope.message_id.bytes,
        "client_id": envelope.client_id,
        "domain": envelope.domain,
        "cert_fingerprint": bytes.fromhex(envelope.cert_fingerprint),
        "created_at": from_ms(envelope.queued_at),
        "queued_at": from_ms(envelope.queued_at),
        "due_at": from_ms(envelope.queued_at),
        "expires_at": from_ms(envelope.expires_at),
        "client_timestamp": (
            None if envelope.client_timestamp is None else from_ms(envelope.client_timestamp)
        ),
        "attempt_count": offer.attempt,
        "queue": queue,
        "priority": DEFAULT_PRIORITY,
        "generation": 0,
        "status": "failed",
        "reason": "expired" if result.result is Result.EXPIRED else result.reason,
        "delivered_at": None,
        "sender_number_hashed": None,
        "hmac_kid": None,
        "encrypted_body": None,
        "key_id": None,
    }
    if result.result is Result.DELIVERED and content is not None:
        number = decode_content(content).sender_number
        key_id, body = data_keys.seal(envelope, content)
        kid, hashed = keyring.hash_number(envelope.domain, number)
        row |= {
            "status": "delivered",
            "reason": None,
            "delivered_at": from_ms(now),
            "sender_number_hashed": hashed,
            "hmac_kid": kid,
            "encrypted_body": body,
            "key_id": key_id,
        }
    return row
