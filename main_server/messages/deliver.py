"""Deliver: a message is delivered when its row says so, and no more than once (I2).

What a row already says decides. A message without a row needs its envelope; if it came under an
Idempotency-Key that another has, it is that one's duplicate, or a conflict if it says something
else, and isn't delivered.
"""

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Engine

from gatepost.clock import Clock, from_ms, to_ms
from gatepost.errors import Invalid
from gatepost.wire.contract import DeliverResult, DeliveryOffer, Result
from main_server.keys.data_keys import DataKeys, HeldKeys
from main_server.keys.service import Keyring
from main_server.messages import repository
from main_server.messages.arrivals import (
    KEY_CONFLICT,
    KEY_UNAVAILABLE,
    Arrival,
    arrive,
    duplicate_row,
    failed_row,
    queued_row,
    readable,
    storable,
)
from main_server.messages.bisect import bisect
from main_server.messages.key_claims import claim_keys, conflicts, find_first
from main_server.messages.lasting import make_lasting
from main_server.messages.repository import DELIVERABLE, AcceptedBy, Claim, Standing
from main_server.store.database import transact

_ENDED = {"delivered": Result.ALREADY, "erased": Result.ERASED, "duplicate": Result.DUPLICATE}
_OURS = {Result.DELIVERED, Result.SEND_ENVELOPE, Result.HELD}
"""The results after which the queue keeps the message, or that our own commit makes last. After all
others the queue forgets it, by what another may have committed just now."""
_FINAL = ("unreadable", "discarded", KEY_CONFLICT)
"""Reasons for which a failed message is refused: nobody has what would be delivered, or somebody
has said that it is not to be, or is to say it first (by a redrive)."""


def deliver(
    engine: Engine, keyring: Keyring, clock: Clock, offers: Sequence[DeliveryOffer]
) -> list[DeliverResult]:
    """Deliver what is offered: return one result for each, in order; what it says is committed by
    then."""
    if len({offer.message_id for offer in offers}) < len(offers):
        raise Invalid("A message may be offered once in a batch.")
    arrivals = _arrivals(keyring, offers)
    data_keys = keyring.data_keys(engine, readable(arrivals.values()))

    def work(part: Sequence[DeliveryOffer]) -> list[DeliverResult]:
        return transact(
            engine,
            lambda c: _deliver(c, keyring, data_keys, arrivals, part, clock.now_ms()),
        )

    def refuse(offer: DeliveryOffer) -> DeliverResult:
        return DeliverResult(
            message_id=offer.message_id, result=Result.REFUSED, reason="unstorable", retryable=True
        )

    return bisect(work, offers, refuse) if offers else []


def decide(
    offer: DeliveryOffer,
    standing: Standing | None,
    arrival: Arrival | None,
    original: Claim | None,
    now: int,
) -> DeliverResult:
    """Decide what becomes of one offer. Pure: the effects follow from the result."""

    if standing is not None:
        kind, reason = _of_row(standing, now)
    elif not offer.envelope:
        kind, reason = Result.SEND_ENVELOPE, None
    else:
        kind, reason = _of_arrival(offer.message_id, arrival, original, now)
    if offer.held and kind is Result.DELIVERED:
        kind = Result.HELD
    return DeliverResult(
        message_id=offer.message_id,
        result=kind,
        reason=reason,
        retryable=reason == KEY_UNAVAILABLE,
    )


def _of_row(standing: Standing, now: int) -> tuple[Result, str | None]:
    if standing.status in _ENDED:
        return _ENDED[standing.status], None
    if standing.reason in _FINAL:
        return Result.REFUSED, standing.reason
    expired = to_ms(standing.expires_at) <= now
    return (Result.EXPIRED if expired else Result.DELIVERED), None


def _of_arrival(
    message_id: UUID, arrival: Arrival | None, original: Claim | None, now: int
) -> tuple[Result, str | None]:
    if arrival is None or (arrival.content is None and not arrival.locked):
        return Result.REFUSED, "unreadable"
    if original is not None and original.message_id != message_id.bytes:
        if conflicts(arrival.envelope, original):
            return Result.REFUSED, KEY_CONFLICT
        return Result.DUPLICATE, None
    if arrival.expired(now):
        return Result.EXPIRED, None
    return (Result.REFUSED, KEY_UNAVAILABLE) if arrival.locked else (Result.DELIVERED, None)


def _arrivals(keyring: Keyring, offers: Sequence[DeliveryOffer]) -> dict[UUID, Arrival]:
    """Return the envelopes that came, each under the id that it carries itself."""
    found: dict[UUID, Arrival] = {}
    for offer in offers:
        arrival = arrive(keyring, offer.envelope) if offer.envelope else None
        if arrival is not None and arrival.envelope.message_id == offer.message_id:
            found[offer.message_id] = arrival
    return found


def _deliver(
    connection: Connection,
    keyring: Keyring,
    data_keys: DataKeys,
    arrivals: dict[UUID, Arrival],
    offers: Sequence[DeliveryOffer],
    now: int,
) -> list[DeliverResult]:
    held = data_keys.hold(connection)  # before any row, as everybody does
    ids = sorted({offer.message_id.bytes for offer in offers})
    standings = repository.lock_standings(connection, ids)
    new = {
        offer.message_id: storable(arrivals[offer.message_id], held)
        for offer in sorted(offers, key=lambda one: one.message_id)
        if offer.message_id.bytes not in standings and offer.message_id in arrivals
    }
    originals = _originals(connection, new, now)
    fresh = [
        arrival
        for message_id, arrival in new.items()
        if _of_arrival(message_id, arrival, originals.get(message_id), now)[0] is Result.DELIVERED
    ]
    if fresh:
        # Several may bring the same message: its row says to whom alone it was delivered now.
        queued = [queued_row(keyring, held, one, now) for one in fresh]
        repository.insert_queued(connection, queued, AcceptedBy.QUEUE)
        fresh_ids = [one.envelope.message_id.bytes for one in fresh]
        standings |= repository.lock_standings(connection, fresh_ids)
    results = [
        decide(
            offer,
            standings.get(offer.message_id.bytes),
            new.get(offer.message_id),
            originals.get(offer.message_id),
            now,
        )
        for offer in offers
    ]
    attempts = {offer.message_id: offer.attempt for offer in offers}
    outcomes = {result.message_id: result for result in results}
    rows = [
        _ended_row(keyring, held, arrival, outcomes[message_id], originals, attempts)
        for message_id, arrival in new.items()
        if message_id.bytes not in standings and not outcomes[message_id].retryable
    ]
    if rows:
        repository.insert_ended(connection, rows)
    _end_standing(connection, results, attempts, standings, from_ms(now))
    _note_attempts(connection, results, attempts, from_ms(now))
    if any(result.result not in _OURS for result in results):
        make_lasting(connection)
    return results


def _originals(connection: Connection, new: dict[UUID, Arrival], now: int) -> dict[UUID, Claim]:
    """Return whose the key is, for each new message that came under an Idempotency-Key that another
    has."""
    claims = claim_keys(connection, [a for a in new.values() if not a.expired(now)])
    firsts = {message_id: find_first(a.envelope, claims) for message_id, a in new.items()}
    return {message_id: first for message_id, first in firsts.items() if first is not None}


def _ended_row(
    keyring: Keyring,
    data_keys: HeldKeys,
    arrival: Arrival,
    result: DeliverResult,
    originals: dict[UUID, Claim],
    attempts: dict[UUID, int],
) -> dict[str, Any]:
    envelope = arrival.envelope
    attempt = attempts[envelope.message_id]
    if result.result is Result.DUPLICATE:
        return duplicate_row(envelope, originals[envelope.message_id].message_id)
    return failed_row(keyring, data_keys, arrival, result.reason or "expired", attempt)


def _end_standing(
    connection: Connection,
    results: Sequence[DeliverResult],
    attempts: dict[UUID, int],
    standings: dict[bytes, Standing],
    now: datetime,
) -> None:
    """End the rows that were there: one statement for each kind of end and number of attempt."""
    ends = sorted(
        (result.result, attempts[result.message_id], result.message_id.bytes)
        for result in results
        if (standing := standings.get(result.message_id.bytes)) and standing.status in DELIVERABLE
    )
    for (kind, attempt), group in groupby(ends, key=lambda end: end[:2]):
        ids = [end[2] for end in group]
        if kind is Result.DELIVERED:
            repository.mark_delivered(connection, ids, attempt, now)
        elif kind is Result.EXPIRED:
            repository.mark_failed(connection, ids, attempt, "expired")


def _note_attempts(
    connection: Connection,
    results: Sequence[DeliverResult],
    attempts: dict[UUID, int],
    now: datetime,
) -> None:
    """Note the attempts that delivered; a first-try success is the rule, and leaves none."""
    rows = [
        {
            "message_id": result.message_id.bytes,
            "attempt": attempts[result.message_id],
            "started_at": now,
            "ended_at": now,
            "outcome": "delivered",
            "reason": None,
        }
        for result in sorted(results, key=lambda one: one.message_id)
        if result.result is Result.DELIVERED and attempts[result.message_id] > 1
    ]
    if rows:
        repository.add_attempts(connection, rows)
