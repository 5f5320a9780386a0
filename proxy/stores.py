"""The two stores of the commit, as the proxy sees them: the queue in Redis, and the ledger.

Each either commits, refuses cleanly (nothing was kept), or leaves the outcome unknown. Committing
the same message twice is committing it once, in both.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import httpx
import msgspec

from gatepost.logs import Log
from gatepost.queue import (
    Entry,
    Queue,
    QueueError,
    QueueFull,
    QueueLoading,
    QueueReadOnly,
    Queues,
    QueueUnreachable,
)
from gatepost.service.tracing import Tracer
from gatepost.wire.contract import (
    RegisterRequest,
    RegisterResult,
    decode_register_answer,
    encode_json,
)
from gatepost.wire.envelope import Envelope, encode
from proxy.breaker import Breaker
from proxy.groups import Group
from proxy.tracing import TO_LEDGER, TO_QUEUE, follow_commit

R = TypeVar("R")
Took = Callable[[float], None]
"""A function that is told how many seconds each commit took that came through."""

PACE_SECONDS = 0.02
"""The seconds between groups: each group costs a call and a flush to disk, however small it is."""


class StoreRefused(Exception):
    """A commit that was refused: nothing was kept."""


class StoreUnknown(Exception):
    """A commit whose outcome isn't known: the message may have been kept, or not."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """An envelope for its queue."""

    envelope: Envelope
    exposed: bool


_CLEAN = (QueueFull, QueueLoading, QueueReadOnly, QueueUnreachable)
"""The errors after which nothing was kept."""


class QueueStore:
    """The queue as a store. Each queue has groups of its own: what becomes of one domain's says
    nothing of another's."""

    def __init__(
        self,
        queues: Queues,
        log: Log,
        took: Took = lambda _: None,
        tracer: Tracer | None = None,
    ) -> None:
        self._queues = queues
        self._took = took
        self._tracer = tracer
        self._lanes: dict[str, _Lane] = {}
        self.breaker = Breaker("queue", log)

    def commit(self, envelope: Envelope, *, exposed: bool) -> "asyncio.Future[None]":
        future = self._lane(envelope).enqueueing.submit(Waiting(envelope, exposed))
        if self._tracer is not None:
            follow_commit(self._tracer, envelope, TO_QUEUE, future)
        return future

    def late(self) -> None:
        self.breaker.late(max(lane.enqueueing.longest_flight() for lane in self._lanes.values()))

    def expose(self, envelope: Envelope) -> "asyncio.Future[bool]":
        """Note that only the queue has the message, so that it is registered as soon as that can
        be.

        The result is False if the queue hasn't got it any more: it was settled meanwhile, or wiped.
        """
        return self._lane(envelope).exposing.submit(envelope.message_id.bytes)

    def withdraw(self, envelope: Envelope) -> None:
        """Take the message out of the queue again; where that fails it ends as the ledger says of
        it.

        Call this only once its commit has been answered: or the withdrawal could come before that.
        """
        self._lane(envelope).withdrawing.submit(envelope.message_id.bytes)

    def _lane(self, envelope: Envelope) -> "_Lane":
        lane = self._lanes.get(envelope.queue)
        if lane is None:
            lane = _Lane(self._queues.named(envelope.queue), self.breaker, self._took)
            self._lanes[envelope.queue] = lane
        return lane


class _Lane:
    """The way into one queue."""

    def __init__(self, queue: Queue, breaker: Breaker, took: Took) -> None:
        self._queue = queue
        self._breaker = breaker
        self._took = took
        self.enqueueing: Group[Waiting, None] = Group(self._enqueue, pace_seconds=PACE_SECONDS)
        self.exposing: Group[bytes, bool] = Group(self._expose)
        self.withdrawing: Group[bytes, bool] = Group(self._withdraw)

    async def _enqueue(self, group: list[Waiting]) -> list[None]:
        began = time.perf_counter()
        await self._try(self._queue.enqueue([_entry(one) for one in group]))
        self._took(time.perf_counter() - began)
        return [None] * len(group)

    async def _expose(self, group: list[bytes]) -> list[bool]:
        return await self._try(self._queue.expose(group))

    async def _withdraw(self, group: list[bytes]) -> list[bool]:
        return await self._try(self._queue.remove(group))

    async def _try(self, call: Awaitable[R]) -> R:
        try:
            answer = await call
        except Exception as error:  # a defect, too, must be told, and must not be tried for ever
            reason = str(error) if isinstance(error, QueueError) else type(error).__name__
            self._breaker.missed(reason)
            kind = StoreRefused if isinstance(error, _CLEAN) else StoreUnknown
            raise kind(reason) from None
        self._breaker.hit()
        return answer


class LedgerStore:
    def __init__(
        self,
        main_server: httpx.AsyncClient,
        timeout_seconds: float,
        log: Log,
        queue_skipped: Callable[[], bool] = lambda: False,
        took: Took = lambda _: None,
        tracer: Tracer | None = None,
    ) -> None:
        self._main_server = main_server
        self._tracer = tracer
        self._timeout = timeout_seconds
        self._queue_skipped = queue_skipped
        self._took = took
        self.breaker = Breaker("ledger", log)
        self._registering: Group[Envelope, RegisterResult] = Group(
            self._register, pace_seconds=PACE_SECONDS
        )

    def commit(self, envelope: Envelope) -> "asyncio.Future[RegisterResult]":
        future = self._registering.submit(envelope)
        if self._tracer is not None:
            follow_commit(self._tracer, envelope, TO_LEDGER, future)
        return future

    def late(self) -> None:
        self.breaker.late(self._registering.longest_flight())

    async def _register(self, group: list[Envelope]) -> list[RegisterResult]:
        envelopes = [msgspec.Raw(encode(one)) for one in group]
        body = encode_json(RegisterRequest(envelopes, queue_skipped=self._queue_skipped()))
        began = time.perf_counter()
        try:
            results = await self._post(body)
        except (StoreRefused, StoreUnknown) as error:
            self.breaker.missed(str(error))
            raise
        if len(results) != len(group):
            raise StoreUnknown("the main server answers about other messages")
        self._took(time.perf_counter() - began)
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
        priority=envelope.priority,
        due_at=envelope.due_at,
        expires_at=envelope.expires_at,
        ordering_key=envelope.ordering_mac,
        exposed=one.exposed,
    )
