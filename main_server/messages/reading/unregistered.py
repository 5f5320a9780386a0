"""The story of a message that only Redis has: accepted, and not yet in the ledger. Pure.

Whose it is, is in the clear fields of its envelope; what it says nobody reads here (I7, I12).
"""

from datetime import datetime

from gatepost.clock import from_ms
from gatepost.queue import Peeked
from gatepost.wire.envelope import Envelope
from main_server.messages.reading.repository import Row
from main_server.messages.reading.timeline import UNREGISTERED, Told, Whereabouts, tell

LATE_SECONDS = 10.0
"""Seconds after which a message is late: what only the queue has is registered within 5 s of both
stores being there (I1)."""


def row_of(envelope: Envelope, peeked: Peeked) -> Row:
    """Return what a message's row would say if it had one."""
    stamp, accepted_at = envelope.client_timestamp, from_ms(envelope.queued_at)
    return Row(
        message_id=envelope.message_id.bytes,
        client_id=envelope.client_id,
        domain=envelope.domain,
        status="queued",
        reason=None,
        created_at=accepted_at,
        queued_at=accepted_at,
        delivered_at=None,
        due_at=accepted_at if envelope.due_at is None else from_ms(envelope.due_at),
        expires_at=from_ms(envelope.expires_at),
        client_timestamp=None if stamp is None else from_ms(stamp),
        attempt_count=peeked.attempts,
        queue=envelope.queue,
        generation=peeked.generation,
        duplicate_of=None,
        key_id=None,
        accepted_by=UNREGISTERED,
    )


def tell_unregistered(row: Row, peeked: Peeked, now: datetime, *, ledger_answers: bool) -> Told:
    told = tell(row, [], Whereabouts(answered=True, peeked=peeked), now)
    return Told(f"{_where(row, now, ledger_answers=ledger_answers)} {told.why}", told.steps)


def _where(row: Row, now: datetime, *, ledger_answers: bool) -> str:
    if not ledger_answers:
        return (
            "The queue has it. The ledger does not answer, so nobody can know whether it has been"
            " delivered. The queue says:"
        )
    if (now - row.created_at).total_seconds() < LATE_SECONDS:
        return "It is accepted and kept by the queue; the ledger takes it over within seconds."
    return (
        "It is accepted and kept by the queue. The ledger should have taken it over by now: it was"
        " away until a moment ago, or a key that the message needs can't be used."
    )
