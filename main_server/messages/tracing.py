"""Traces of messages, where they are recorded: that the main server has registered and delivered
them. The messages of one call are each in their own trace."""

import time
from collections.abc import Sequence

import msgspec

from gatepost import trace
from gatepost.service.tracing import Kind, Span, Tracer
from gatepost.wire.contract import DeliverResult, DeliveryOffer, RegisterResult
from gatepost.wire.envelope import trace_of


def begin_registering(tracer: Tracer | None, envelopes: Sequence[msgspec.Raw]) -> list[Span | None]:
    """Begin a span for each message, below the proxy's span of the commit to the ledger."""
    if tracer is None:
        return []
    return [_below_commit(tracer, bytes(envelope)) for envelope in envelopes]


def _below_commit(tracer: Tracer, envelope: bytes) -> Span | None:
    span = tracer.below(trace_of(envelope).get("traceparent", ""), "register", Kind.SERVER)
    if span is not None:
        span.parent_id = trace.ledger_span_id(span.parent_id)
    return span


def begin_delivering(tracer: Tracer | None, offers: Sequence[DeliveryOffer]) -> list[Span | None]:
    """Begin a span for each message, below the worker's span of its attempt."""
    if tracer is None:
        return []
    return [tracer.below(offer.traceparent, "deliver", Kind.SERVER) for offer in offers]


def end_all(
    spans: Sequence[Span | None], results: Sequence[RegisterResult | DeliverResult]
) -> None:
    """End the spans with what became of each message; they end together, by the commit that they
    share."""
    now = time.time_ns() if spans else 0
    for span, result in zip(spans, results, strict=False):
        if span is None:
            continue
        span.attributes["messaging.batch.message_count"] = len(spans)
        span.attributes["gatepost.result"] = result.result
        if result.reason:
            span.attributes["gatepost.reason"] = result.reason
        span.end(at_ns=now)
