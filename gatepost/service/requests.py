"""The layer around every request: its id, its trace, a bound on bodies, one wide log event, and the
one writer of problems.

Applications read `context_of(scope)`, raise the errors of gatepost.errors, and add to `fields` what
the event of this request should say.
"""

import asyncio
import re
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from prometheus_client import Counter, Histogram

from gatepost.errors import GatepostError, OutcomeUnknown, Unavailable
from gatepost.logs import Log, failure
from gatepost.metrics import LATENCY_SECONDS
from gatepost.problem import MEDIA_TYPE, describe
from gatepost.service.asgi import REFUSAL, Header, Receive, Scope, Send, header, respond
from gatepost.service.bodies import Bodies, Receiving
from gatepost.service.tracing import Span, Tracer
from gatepost.trace import FORM
from gatepost.wire.vitals import Answered

_CONTEXT = "gatepost.context"
_REQUEST_ID = re.compile(rb"\A[A-Za-z0-9._-]{1,64}\Z")
_TRACEPARENT = re.compile(rf"\A{FORM}\Z".encode())


@dataclass(slots=True)
class Context:
    """One request: how it is found again in logs and traces, and what its event will say."""

    request_id: str
    traceparent: str
    event: str = "request.served"
    route: str = "other"
    fields: dict[str, Any] = field(default_factory=dict)
    headers: Sequence[Header] = ()
    """Headers that the answer has beside its own, whatever it will be."""
    span: Span | None = None
    """The span of this request, where it is recorded for its trace."""
    is_poll: bool = False
    """True where a service asks this on and on: while it goes well its event says nothing new."""
    unexpected: Exception | None = None
    """The error in a part of the request, which is answered all the same."""


def context_of(scope: Scope) -> Context:
    context = scope[_CONTEXT]
    assert isinstance(context, Context)
    return context


class RequestMetrics:
    """The metrics of requests; made once the metrics folder is known, hence not at import."""

    def __init__(
        self, service: str, routes: Sequence[str] = (), statuses: Sequence[int] = ()
    ) -> None:
        """Count these routes from the start with each of these statuses, so that a first one shows
        as a rise."""
        self._requests = Counter(
            f"gatepost_{service}_requests", "Requests by route and status", ["route", "status"]
        )
        self._seconds = Histogram(
            f"gatepost_{service}_request_seconds",
            "Time to answer",
            ["route"],
            buckets=LATENCY_SECONDS,
        )
        self._children: dict[tuple[str, int], tuple[Counter, Histogram]] = {}
        for route, status in product(routes, statuses):
            self._requests.labels(route, status)

    def observe(self, route: str, status: int, seconds: float) -> None:
        children = self._children.get((route, status))
        if children is None:  # looking them up costs as much as counting
            children = self._requests.labels(route, status), self._seconds.labels(route)
            self._children[route, status] = children
        children[0].inc()
        children[1].observe(seconds)

    def answered(self, route: str) -> Answered:
        """Return what this process has answered on a route in all: it is read from what is counted
        anyway."""
        counts = _samples(self._requests, "_total", route)
        times = _samples(self._seconds, "_bucket", route)
        within = {f"{float(one['le']) * 1000:g}": int(n) for one, n in times if one["le"] != "+Inf"}
        accepted = sum(int(n) for one, n in counts if one["status"] == "202")
        return Answered(sum(int(n) for _, n in counts), accepted, within)


def _samples(
    metric: Counter | Histogram, ending: str, route: str
) -> list[tuple[dict[str, str], float]]:
    return [
        (one.labels, one.value)
        for family in metric.collect()
        for one in family.samples
        if one.name.endswith(ending) and one.labels.get("route") == route
    ]


class Requests:
    """The outermost layer of a service's application; with a tracer it is where traces begin."""

    def __init__(
        self,
        app: Any,
        log: Log,
        metrics: RequestMetrics,
        tracer: Tracer | None = None,
        bodies: Bodies | None = None,
    ) -> None:
        """Wrap an application; `bodies` bounds what is held of its requests' bodies."""
        self._bodies = bodies or Bodies()
        self._app = app
        self._log = log
        self._metrics = metrics
        self._tracer = tracer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        context = scope[_CONTEXT] = _begin(scope, self._tracer)
        body = Receiving(self._bodies, scope, receive)
        status = 0

        async def send_with_id(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [
                    *message.get("headers", ()),
                    *context.headers,
                    (b"x-request-id", context.request_id.encode()),
                ]
            await send(message)

        try:
            await self._serve(context, scope, body, send_with_id)
        except asyncio.CancelledError:  # this process ends: nobody has said that it came to nothing
            if not status:
                error = Unavailable() if scope["method"] == "GET" else OutcomeUnknown()
                await self._refuse(context, error, send_with_id)
        except Exception as error:
            self._log_unexpected(context, error)
            if not status:
                await self._refuse(context, error, send_with_id)
        finally:
            body.end()
        self._tell(context, scope["method"], status, time.perf_counter() - started)

    async def _serve(self, context: Context, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request unless the port refuses it; that may show when half of its body has been
        read."""

        def check() -> None:
            if refusal := scope.get(REFUSAL):
                context.fields["reason"] = refusal.detail
                raise refusal

        async def receive_checked() -> Any:
            message = await receive()
            check()
            return message

        check()
        await self._app(scope, receive_checked, send)

    def _tell(self, context: Context, method: str, status: int, seconds: float) -> None:
        """Count the request, end its span, and write its one event."""
        if context.unexpected is not None:
            self._log_unexpected(context, context.unexpected)
        self._metrics.observe(context.route, status, seconds)
        if context.span is not None:
            context.span.end_request(method, context.route, status)
        is_idle = status == 304 or (context.is_poll and status == 200)
        write = self._log.debug if is_idle else self._log.info
        write(
            context.event,
            method=method,
            route=context.route,
            status=status,
            ms=round(seconds * 1000, 2),
            request_id=context.request_id,
            traceparent=context.traceparent,
            **context.fields,
        )

    async def _refuse(self, context: Context, error: Exception, send: Send) -> None:
        problem = describe(error, context.request_id)
        context.fields["problem"] = problem.document["type"]
        await respond(
            send, problem.status, problem.body(), content_type=MEDIA_TYPE, headers=problem.headers
        )

    def _log_unexpected(self, context: Context, error: Exception) -> None:
        if not isinstance(error, GatepostError):
            self._log.error("request.failed", request_id=context.request_id, **failure(error))


def _begin(scope: Scope, tracer: Tracer | None) -> Context:
    given = header(scope, b"x-request-id")
    trace = header(scope, b"traceparent")
    fresh = secrets.token_hex(40)
    context = Context(
        request_id=given.decode() if given and _REQUEST_ID.match(given) else fresh[:32],
        traceparent=(
            trace.decode()
            if trace and _TRACEPARENT.match(trace)
            else f"00-{fresh[32:64]}-{fresh[64:]}-00"
        ),
    )
    if tracer is not None:
        context.traceparent, context.span = tracer.receive(context.traceparent)
    return context
