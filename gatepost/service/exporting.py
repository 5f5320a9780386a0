"""Exports spans to a collector, from a loop of each process. Nobody waits for it.

Spans that have ended wait in a bounded line; a span that finds it full is dropped, and counted. A
collector that is away is asked again, later each time, while the line holds what came last before
it was full; one that refuses what it is sent isn't sent it again. At the end there is one more try.

Whatever goes wrong here ends no service: its settings were checked when it started, but a child
that takes another's place may find files that have gone since. It goes on when they are back.
"""

import asyncio
import os
import secrets
import socket
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
from prometheus_client import Counter

from gatepost import __version__
from gatepost.config.collector import SampledTracing, Tracing
from gatepost.errors import ConfigurationError
from gatepost.logs import Log
from gatepost.loops import backoff, pause
from gatepost.service.tracing import Sampling, Span, Tracer

MOST_WAITING = 8192
PIECE = 128
"""Spans that are sent at once: so few that the loop stands still for about a millisecond while they
are encoded."""
EVERY_SECONDS = 0.5
CALL_SECONDS = 5.0
LAST_CALL_SECONDS = 2.0
LONGEST_PAUSE_SECONDS = 5.0
_AGAIN = {429, 502, 503, 504}
"""Statuses after which, as OTLP says, the same may be sent again."""


class Away(Exception):
    """The collector can't be reached, or asks to be called later; or our files can't be used."""


class Exporter:
    def __init__(self, service: str, settings: Tracing, log: Log) -> None:
        from gatepost.service import otlp  # whose packages are an extra

        self._otlp = otlp
        self._url = f"{settings.endpoint}{otlp.PATH}"
        self._settings, self._log = settings, log
        self._http: httpx.AsyncClient | None = None
        self._waiting: deque[Span] = deque()
        self._away = False
        self._resource: dict[str, str | int] = {
            "service.name": f"gatepost-{service.replace('_', '-')}",
            "service.version": __version__,
            "service.instance.id": secrets.token_hex(8),
            "host.name": socket.gethostname(),
            "process.pid": os.getpid(),
        }
        count = Counter(f"gatepost_{service}_spans", "Spans by what became of them", ["outcome"])
        self._sent, self._dropped, self._refused = (
            count.labels(outcome) for outcome in ("sent", "dropped", "refused")
        )

    def keep(self, span: Span) -> None:
        if len(self._waiting) < MOST_WAITING:
            self._waiting.append(span)
        else:
            self._dropped.inc()

    async def export_loop(self, stop: asyncio.Event) -> None:
        pauses = backoff(EVERY_SECONDS, LONGEST_PAUSE_SECONDS)
        while not stop.is_set():
            try:
                while self._waiting and not stop.is_set():
                    await self._send()
                pauses = backoff(EVERY_SECONDS, LONGEST_PAUSE_SECONDS)
                await pause(stop, EVERY_SECONDS)
            except Away:
                await pause(stop, next(pauses))

    async def close(self) -> None:
        """Send what waits when nothing makes spans any more, if that can be done at once."""
        try:
            async with asyncio.timeout(LAST_CALL_SECONDS):
                while self._waiting:
                    await self._send()
        except (Away, TimeoutError):
            pass
        self._dropped.inc(len(self._waiting))
        if self._http is not None:
            await self._http.aclose()

    async def _send(self) -> None:
        """Send the first spans that wait, once; they wait on if the collector is away."""
        piece = [self._waiting[n] for n in range(min(PIECE, len(self._waiting)))]
        try:
            body = self._otlp.encode_spans(piece, self._resource)
        except Exception as error:
            self._drop(len(piece), type(error).__name__)
            return
        headers = {"content-type": self._otlp.MEDIA_TYPE}
        try:
            answer = await self._client().post(self._url, content=body, headers=headers)
        except ConfigurationError as error:
            raise self._is_away(error.detail) from None
        except Exception as error:  # whatever a library raises: nobody waits for spans
            raise self._is_away(type(error).__name__) from None
        if answer.status_code in _AGAIN:
            raise self._is_away(f"status {answer.status_code}")
        for _ in piece:
            self._waiting.popleft()
        self._count(len(piece), answer)
        if self._away:
            self._away = False
            self._log.info("traces.exported")

    def _client(self) -> httpx.AsyncClient:
        if self._http is None:
            verify = self._settings.context()
            self._http = httpx.AsyncClient(verify=verify, timeout=CALL_SECONDS, trust_env=False)
        return self._http

    def _drop(self, number: int, reason: str) -> None:
        """Drop the first spans: what can't be said in OTLP now can't be later either, and would be
        in the way."""
        for _ in range(number):
            self._waiting.popleft()
        self._dropped.inc(number)
        self._log.warning("traces.dropped", spans=number, reason=reason)

    def _count(self, number: int, answer: httpx.Response) -> None:
        good = answer.status_code == 200
        told = self._otlp.rejected_spans(answer.content) if good else number
        refused = min(number, max(0, told))
        self._sent.inc(number - refused)
        self._refused.inc(refused)
        if refused:
            self._log.warning("traces.refused", spans=refused, status=answer.status_code)

    def _is_away(self, reason: str) -> Away:
        if not self._away:
            self._away = True
            self._log.warning("traces.waiting", reason=reason)
        return Away(reason)


@asynccontextmanager
async def exporting(service: str, settings: Tracing, log: Log) -> AsyncIterator[Tracer | None]:
    """Yield the tracer whose spans are exported; None where traces are off. To be entered in each
    child, as nothing of it may be shared, and before its loops, so that what they record at their
    ends is exported as well."""
    if settings.endpoint is None:
        yield None
        return
    sampling = None
    if isinstance(settings, SampledTracing):
        sampling = Sampling(settings.ratio, settings.follow_clients)
    exporter, stop = Exporter(service, settings, log), asyncio.Event()
    try:
        async with asyncio.TaskGroup() as group:
            loop = group.create_task(exporter.export_loop(stop))
            try:
                yield Tracer(exporter.keep, sampling)
            finally:
                stop.set()
                asyncio.get_running_loop().call_later(LAST_CALL_SECONDS, loop.cancel)
    finally:
        await exporter.close()
