"""Spans: what became of a message when, for a collector of OpenTelemetry. Off by default.

Nothing waits for a span: it is put down where it ends, and exported later (exporting.py). Where a
trace isn't recorded there is no span at all, and None stands in its place. A span says names of
ours, ids of messages, counts and outcomes; never a body, a number, a key or anything that was sent.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from types import TracebackType
from typing import Any, Self

from gatepost import trace

NS = 1_000_000
"""Nanoseconds in a millisecond."""

Value = str | int


class Kind(IntEnum):
    """The kinds of spans, as OpenTelemetry numbers them."""

    INTERNAL = 1
    SERVER = 2
    CLIENT = 3
    PRODUCER = 4
    CONSUMER = 5


@dataclass(frozen=True, slots=True)
class Sampling:
    """The choice of the traces that are recorded. It is made once, where a message comes in."""

    ratio: float
    follow_clients: bool

    def records(self, traceparent: str) -> bool:
        """Decide whether a trace is recorded: by the caller's own decision, else by the trace's id,
        as all samplers by ratio do, so that others who have the same ratio record the same
        traces."""
        if self.follow_clients and trace.is_recorded(traceparent):
            return True
        return int(traceparent[19:35], 16) < self.ratio * 2**64


@dataclass(slots=True)
class Span:
    tracer: "Tracer"
    name: str
    kind: Kind
    trace_id: str
    parent_id: str
    """The id of the span above this one; empty where the trace begins."""
    span_id: str = field(default_factory=trace.fresh_span_id)
    start_ns: int = field(default_factory=time.time_ns)
    end_ns: int = 0
    attributes: dict[str, Value] = field(default_factory=dict)
    error: str | None = None

    @property
    def traceparent(self) -> str:
        return trace.recorded(self.trace_id, self.span_id)

    def child(self, name: str, kind: Kind, **attributes: Value) -> "Span":
        span = Span(self.tracer, name, kind, self.trace_id, self.span_id)
        span.attributes.update(attributes)
        return span

    def step(self, name: str) -> None:
        """Record a step below this span: what was done from the span's beginning until now."""
        step = self.child(name, Kind.INTERNAL)
        step.start_ns = self.start_ns
        step.end()

    def end(self, error: str | None = None, at_ns: int | None = None) -> None:
        self.end_ns = max(self.start_ns, at_ns or time.time_ns())  # a wall clock may be set back
        self.error = error
        self.tracer.keep(self)

    def end_request(self, method: str, route: str, status: int) -> None:
        self.name = f"{method} {route}"
        self.attributes |= {
            "http.request.method": method,
            "http.route": route,
            "http.response.status_code": status,
        }
        self.end(f"status {status}" if status >= 500 else None)

    def end_with(self, future: "asyncio.Future[Any]") -> None:
        """End the span as a future has ended; to be called back when the future is done."""
        if future.cancelled():
            self.end("cancelled")
        else:
            error = future.exception()
            self.end(type(error).__name__ if error else None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.end(kind.__name__ if kind else None)


class Tracer:
    """The maker of one process's spans; `keep` takes those that have ended, and returns at once."""

    def __init__(self, keep: Callable[[Span], None], sampling: Sampling | None = None) -> None:
        """Make a tracer. With `sampling` it decides which traces are recorded; others keep to what
        was decided."""
        self.keep = keep
        self._sampling = sampling

    def receive(self, traceparent: str) -> tuple[str, Span | None]:
        """Return a request's place in its trace, and its span if that trace is recorded.

        A caller that records nothing is no part of the trace, though it has named it.
        """
        if self._sampling is None or not self._sampling.records(traceparent):
            return trace.not_recorded(traceparent), None
        parent = trace.span_id(traceparent) if trace.is_recorded(traceparent) else ""
        span = Span(self, "request", Kind.SERVER, trace.trace_id(traceparent), parent)
        return span.traceparent, span

    def below(self, traceparent: str, name: str, kind: Kind) -> Span | None:
        """Return a new span below that one; None where that one isn't recorded."""
        if not trace.is_recorded(traceparent):
            return None
        return Span(self, name, kind, trace.trace_id(traceparent), trace.span_id(traceparent))
