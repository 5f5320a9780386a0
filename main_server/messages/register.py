"""Register: a message is in the ledger before, or beside, its being in the queue (I1).

It is inserted once. Of messages under one Idempotency-Key the first has the key; what comes later
under it is a duplicate, or a conflict if it says something else (main_server.messages.key_claims).
"""

from collections.abc import Sequence
from uuid import UUID

import msgspec
from sqlalchemy import Connection, Engine

from gatepost.clock import Clock
from gatepost.wire.contract import Registered, RegisterResult
from main_server.keys.data_keys import DataKeys
from main_server.keys.service import Keyring
from main_server.messages import repository
from main_server.messages.arrivals import (
    KEY_CONFLICT,
    KEY_UNAVAILABLE,
    Arrival,
    arrive,
    duplicate_row,
    failed_row,
    in_order,
    queued_row,
    readable,
    storable,
)
from main_server.messages.bisect import bisect
from main_server.messages.key_claims import Claims, claim_keys, conflicts, find_first
from main_server.messages.lasting import make_lasting
from main_server.messages.repository import AcceptedBy
from main_server.store.database import transact

UNSTORABLE = "unstorable"
FOR_NOW = {UNSTORABLE, KEY_UNAVAILABLE}
"""Reasons after which the ledger has nothing of a message yet, and may have it another time."""


def register(
    engine: Engine,
    keyring: Keyring,
    clock: Clock,
    envelopes: Sequence[msgspec.Raw],
    *,
    accepted: bool = False,
    queue_skipped: bool = False,
) -> list[RegisterResult]:
    """Register envelopes; return one result for each, in order; it is committed by then.

    `accepted` says that the senders have been told so already, as only the queue had these: then
    what can't be queued any more leaves a row that says why.
    """
    accepted_by = _accepted_by(accepted=accepted, queue_skipped=queue_skipped)
    arrived = [arrive(keyring, data) for data in envelopes]
    arrivals = {a.envelope.message_id: a for a in arrived if a is not None}
    data_keys = keyring.data_keys(engine, readable(arrivals.values()))

    def work(part: Sequence[Arrival]) -> list[tuple[UUID, RegisterResult]]:
        return transact(
            engine,
            lambda connection: _register(
                connection, keyring, data_keys, part, clock.now_ms(), accepted_by
            ),
        )

    def refuse(arrival: Arrival) -> tuple[UUID, RegisterResult]:
        refused = RegisterResult(result=Registered.REFUSED, reason=UNSTORABLE)
        return arrival.envelope.message_id, refused

    results = dict(bisect(work, in_order(arrivals), refuse)) if arrivals else {}
    unreadable = RegisterResult(result=Registered.REFUSED, reason="unreadable")
    return [results[a.envelope.message_id] if a else unreadable for a in arrived]


def _register(
    connection: Connection,
    keyring: Keyring,
    data_keys: DataKeys,
    arrivals: Sequence[Arrival],
    now: int,
    accepted_by: AcceptedBy,
) -> list[tuple[UUID, RegisterResult]]:
    held = data_keys.hold(connection)  # before any row, as everybody does
    arrivals = [storable(arrival, held) for arrival in arrivals]
    claims = claim_keys(connection, [a for a in arrivals if not a.expired(now)])
    results = [(a.envelope.message_id, decide(a, claims, now)) for a in arrivals]
    queued, ended, accepted = [], [], accepted_by is AcceptedBy.QUEUE
    for arrival, (_, result) in zip(arrivals, results, strict=True):
        envelope = arrival.envelope
        match result.result:
            case Registered.REGISTERED:
                queued.append(queued_row(keyring, held, arrival, now))
            case Registered.DUPLICATE if accepted and result.original:
                ended.append(duplicate_row(envelope, result.original.bytes))
            case Registered.CONFLICT | Registered.EXPIRED | Registered.REFUSED if (
                accepted and result.reason not in FOR_NOW
            ):
                reason = result.reason or "expired"
                ended.append(failed_row(keyring, held, arrival, reason, 0))
    if queued:
        repository.insert_queued(connection, queued, accepted_by)
    if ended:
        repository.insert_ended(connection, ended)
    if claims or accepted:  # it goes by what another has committed: a first post, or the proxy
        make_lasting(connection)
    return results


def _accepted_by(*, accepted: bool, queue_skipped: bool) -> AcceptedBy:
    if accepted:
        return AcceptedBy.QUEUE
    return AcceptedBy.LEDGER if queue_skipped else AcceptedBy.BOTH


def decide(arrival: Arrival, claims: Claims, now: int) -> RegisterResult:
    """Decide what becomes of one registration. Pure: the effects follow from the result."""
    envelope = arrival.envelope
    if arrival.content is None and not arrival.locked:
        return RegisterResult(result=Registered.REFUSED, reason="unreadable")
    if arrival.expired(now):
        return RegisterResult(result=Registered.EXPIRED, reason="expired")
    if arrival.locked:
        return RegisterResult(result=Registered.REFUSED, reason=KEY_UNAVAILABLE)
    first = find_first(envelope, claims)
    if first is None:
        return RegisterResult(result=Registered.REGISTERED)
    original = UUID(bytes=first.message_id)
    if conflicts(envelope, first):
        return RegisterResult(result=Registered.CONFLICT, original=original, reason=KEY_CONFLICT)
    return RegisterResult(result=Registered.DUPLICATE, original=original)
