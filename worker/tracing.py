"""The spans that a worker records of messages, where their traces are recorded: how long each
waited, and each attempt."""

from collections.abc import Sequence
from types import TracebackType
from typing import Self
from uuid import UUID

from gatepost.queue import Delivery
from gatepost.service.tracing import NS, Kind, Span, Tracer
from gatepost.wire.contract import DeliverResult
from gatepost.wire.envelope import trace_of


class Attempts:
    """The attempts of one batch, each in its message's own trace. A delivery that has no result
    when this is left is given back, and comes again."""

    __slots__ = ("_spans",)

    def __init__(self, tracer: Tracer | None, queue: str, deliveries: Sequence[Delivery]) -> None:
        self._spans: dict[bytes, Span] = {}
        if tracer is not None:
            for delivery in deliveries:
                self._begin(tracer, queue, delivery, len(deliveries))

    def traceparent(self, delivery: Delivery) -> str:
        """Return the traceparent by which an attempt is known further on; nothing if it isn't
        recorded."""
        span = self._spans.get(delivery.id) if self._spans else None
        return span.traceparent if span else ""

    def end(self, results: Sequence[DeliverResult]) -> None:
        for result in results if self._spans else ():
            if span := self._spans.pop(result.message_id.bytes, None):
                span.attributes["gatepost.result"] = result.result
                if result.reason:
                    span.attributes["gatepost.reason"] = result.reason
                span.end()

    def _begin(self, tracer: Tracer, queue: str, delivery: Delivery, among: int) -> None:
        message = trace_of(delivery.payload).get("traceparent", "")
        span = tracer.below(message, f"process {queue}", Kind.CONSUMER)
        if span is None:
            return
        named = {"messaging.message.id": str(UUID(bytes=delivery.id))}
        span.attributes |= {
            "messaging.system": "gatepost",
            "messaging.operation.name": "process",
            "messaging.operation.type": "process",
            "messaging.destination.name": queue,
            "messaging.batch.message_count": among,
            "gatepost.attempt": delivery.attempts,
            **named,
        }
        self._spans[delivery.id] = span
        wait = tracer.below(message, f"wait in {queue}", Kind.INTERNAL)
        if wait is not None and delivery.attempts <= 1:
            wait.start_ns = delivery.enqueued_at * NS
            wait.attributes |= named
            wait.end(at_ns=span.start_ns)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for span in self._spans.values():
            span.end(kind.__name__ if kind else "no result")
