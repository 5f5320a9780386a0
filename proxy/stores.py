"""The two stores of the commit, as the proxy sees them: the queue in Redis, and the ledger.

Each either commits, refuses cleanly (nothing was kept), or leaves the outcome unknown. Committing
the same message twice is committing it once, in both.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

import httpx
import msgspec

from gatepost.contract import RegisterRequest, RegisterResult, decode_register_answer, encode_json
from gatepost.envelope import Envelope, encode
from gatepost.logs import Log
from gatepost.queue import Entry, QueueError, QueueFull, QueueLoading, QueueReadOnly, Queues
from proxy.groups import Group

MISSES_TO_OPEN = 3
PROBE_SECONDS = 0.5
SLOW_SECONDS = 1.0


class StoreRefused(Exception):
    """Nothing was kept."""


class StoreUnknown(Exception):
    """It may have been kept, or not."""


class Breaker:
    """Skips a store that keeps missing; lets one try through every half second."""

    def __init__(self, store: str, log: Log, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._log = log
        self._clock = clock
        self._misses = 0
        self._probe_at = 0.0
        self.problem: str | None = None
        """Why it is skipped; None when it isn't."""

    @property
    def open(self) -> bool:
        return self._misses >= MISSES_TO_OPEN

    def allows(self) -> bool:
        if not self.open:
            return True
        if self._clock() < self._probe_at:
            return False
        self._probe_at = self._clock() + PROBE_SECONDS
        return True

    def late(self, seconds: float) -> None:
        """A commit has been under way for so many seconds. Slow is a miss, busy is not."""
        if seconds > SLOW_SECONDS:
            self.missed("slow")

    def missed(self, reason: str) -> None:
        self._misses += 1
        if self.open:
            self.problem = reason
        if self._misses == MISSES_TO_OPEN:
            self._probe_at = self._clock() + PROBE_SECONDS
            self._log.warning("breaker.opened", store=self._store, reason=reason)

    def hit(self) -> None:
        if self.open:
            self._log.info("breaker.closed", store=self._store)
        self._misses = 0
        self.problem = None


@dataclass(frozen=True, slots=True)
class Waiting:
    """An envelope for its queue."""

    envelope: Envelope
    exposed: bool


class QueueStore:
    def __init__(self, queues: Queues, log: Log) -> None:
        self._queues = queues
        self.breaker = Breaker("queue", log)
        self._enqueueing: Group[Waiting, None] = Group(self._enqueue)
        self._exposing: Group[Envelope, None] = Group(self._expose)

    def commit(self, envelope: Envelope, *, exposed: bool) -> "asyncio.Future[None]":
        return self._enqueueing.submit(Waiting(envelope, exposed))

    def late(self) -> None:
        self.breaker.late(self._enqueueing.longest_flight())

    def expose(self, envelope: Envelope) -> "asyncio.Future[None]":
        """Notes that only the queue has it, so that it is registered as soon as that can be."""
        return self._exposing.submit(envelope)

    async def _enqueue(self, group: list[Waiting]) -> list[None]:
        by_queue: dict[str, list[Entry]] = {}
        for one in group:
            by_queue.setdefault(one.envelope.queue, []).append(_entry(one))
        await self._try([self._queues.named(n).enqueue(e) for n, e in by_queue.items()])
        return [None] * len(group)

    async def _expose(self, group: list[Envelope]) -> list[None]:
        by_queue: dict[str, list[bytes]] = {}
        for envelope in group:
            by_queue.setdefault(envelope.queue, []).append(envelope.message_id.bytes)
        await self._try([self._queues.named(n).expose(ids) for n, ids in by_queue.items()])
        return [None] * len(group)

    async def _try(self, calls: list[object]) -> None:
        try:
            await asyncio.gather(*calls)  # type: ignore[call-overload]
        except (QueueFull, QueueLoading, QueueReadOnly) as error:
            self.breaker.missed(str(error))
            raise StoreRefused(str(error)) from None
        except QueueError as error:
            self.breaker.missed(str(error))
            raise StoreUnknown(str(error)) from None
        self.breaker.hit()


class LedgerStore:
    def __init__(self, main_server: httpx.AsyncClient, timeout_seconds: float, log: Log) -> None:
        self._main_server = main_server
        self._timeout = timeout_seconds
        self.breaker = Breaker("ledger", log)
        self._registering: Group[Envelope, RegisterResult] = Group(self._register)

    def commit(self, envelope: Envelope) -> "asyncio.Future[RegisterResult]":
        return self._registering.submit(envelope)

    def late(self) -> None:
        self.breaker.late(self._registering.longest_flight())

    async def _register(self, group: list[Envelope]) -> list[RegisterResult]:
        body = encode_json(RegisterRequest([msgspec.Raw(encode(one)) for one in group]))
        try:
            results = await self._post(body)
        except (StoreRefused, StoreUnknown) as error:
            self.breaker.missed(str(error))
            raise
        if len(results) != len(group):
            raise StoreUnknown("the main server answers about other messages")
        self.breaker.hit()
        return results

    async def _post(self, body: bytes) -> list[RegisterResult]:
        headers = {"content-type": "application/json"}
        try:
            async with asyncio.timeout(self._timeout):
                answer = await self._main_server.post(
                    "/internal/messages/register", content=body, headers=headers
                )
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise StoreRefused(type(error).__name__) from None
        except (httpx.HTTPError, TimeoutError) as error:
            raise StoreUnknown(type(error).__name__) from None
        if answer.status_code >= 500:
            raise StoreUnknown(f"status {answer.status_code}")
        if answer.status_code != 200:
            raise StoreRefused(f"status {answer.status_code}")
        try:
            return decode_register_answer(answer.content).results
        except msgspec.MsgspecError:
            raise StoreUnknown("an answer that can't be read") from None


def _entry(one: Waiting) -> Entry:
    envelope = one.envelope
    return Entry(
        id=envelope.message_id.bytes,
        payload=encode(envelope),
        expires_at=envelope.expires_at,
        exposed=one.exposed,
    )
