"""The spans that the proxy records of a message, where its trace is recorded: its sending, its two
commits.

The sending is the message's own span: its place in the trace travels in the envelope, and all that
becomes of the message later is below it.
"""

import asyncio
from typing import Any
from uuid import UUID

from gatepost import trace
from gatepost.service.tracing import Kind, Span, Tracer
from gatepost.wire.envelope import Envelope

TO_QUEUE, TO_LEDGER = "commit to the queue", "commit to the ledger"


def begin_sending(request: Span, queue: str) -> Span:
    sending = request.child(f"send {queue}", Kind.PRODUCER)
    sending.attributes |= {
        "messaging.system": "gatepost",
        "messaging.operation.name": "send",
        "messaging.operation.type": "send",
        "messaging.destination.name": queue,
    }
    return sending


def unrecorded(traceparent: str) -> str:
    """Return the traceparent for a message that this proxy records nothing of, whatever its client
    records: workers and main servers keep to it, or they would be below a span that nobody
    knows."""
    return trace.not_recorded(traceparent) if trace.is_recorded(traceparent) else traceparent


def say_committed(sending: Span, message_id: UUID, durability: str, replayed: bool) -> None:
    sending.attributes["messaging.message.id"] = str(message_id)
    sending.attributes["gatepost.durability"] = durability
    if replayed:
        sending.attributes["gatepost.replayed"] = "true"


def follow_commit(
    tracer: Tracer, envelope: Envelope, store: str, future: "asyncio.Future[Any]"
) -> None:
    """Record a store's commit of one message, however many others are in it."""
    span = tracer.below(envelope.traceparent, store, Kind.CLIENT)
    if span is None:
        return
    if store is TO_LEDGER:
        span.span_id = trace.ledger_span_id(span.parent_id)
    span.attributes["messaging.message.id"] = str(envelope.message_id)
    future.add_done_callback(span.end_with)
