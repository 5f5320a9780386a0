"""The way of a batch: reserve, deliver, settle. Exit is ledger first: what the main server has
committed is then applied to the queue, never the other way round.

Nothing here waits with a message in its hands (I3, I4): what has to wait goes back to Redis.
"""

import asyncio
import time
from collections.abc import Sequence
from uuid import UUID

from prometheus_client import Counter, Histogram

from gatepost.delivering import DeliverResult
from gatepost.envelope import trace_of
from gatepost.logs import Log
from gatepost.loops import backoff, pause
from gatepost.metrics import LATENCY_SECONDS
from gatepost.queue import Delivery, Queue, QueueError, Reason
from worker.main_server import MainServer, Outage
from worker.policy import Decision, Outcome, decide
from worker.settings import Pool

BATCH = 200
LEASE_SECONDS = 30
WAIT_SECONDS = 1.0
FIRST_WAIT_SECONDS, OUTAGE_CAP_SECONDS = 0.1, 1.5


class DeliveryMetrics:
    """Made once the metrics folder is known, hence not at import."""

    def __init__(self) -> None:
        self.attempts = Counter("gatepost_worker_attempts", "Attempts by result", ["result"])
        self.outages = Counter("gatepost_worker_outages", "Batches given back after an outage")
        self.seconds = Histogram(
            "gatepost_worker_deliver_seconds", "Time of a batch", buckets=LATENCY_SECONDS
        )


class Deliverer:
    """What the delivery loops of one process share."""

    def __init__(
        self, log: Log, queue: Queue, main_server: MainServer, pool: Pool, metrics: DeliveryMetrics
    ) -> None:
        self._log = log
        self._queue = queue
        self._main_server = main_server
        self._pool = pool
        self._metrics = metrics
        self._waits = backoff(FIRST_WAIT_SECONDS, OUTAGE_CAP_SECONDS)
        self.problem: str | None = None

    async def delivery_loop(self, stop: asyncio.Event) -> None:
        """Takes batch after batch; waits on the queue when it is empty, and out of an outage."""
        while not stop.is_set():
            try:
                if deliveries := await self._queue.reserve(BATCH, LEASE_SECONDS):
                    await self._deliver_batch(deliveries)
                else:
                    await self._queue.wait(WAIT_SECONDS)
            except (Outage, QueueError) as error:
                self._interrupted(str(error))
                await pause(stop, next(self._waits))

    async def end_expired(self) -> None:
        """What has outlived its time ends like everything else: in the ledger first."""
        if expired := await self._queue.expire(BATCH, LEASE_SECONDS):
            await self._deliver_batch(expired)

    async def _deliver_batch(self, deliveries: Sequence[Delivery]) -> None:
        """One batch to its end; an outage gives all of it back and uses up no attempt."""
        started = time.perf_counter()
        try:
            results = await self._main_server.deliver(deliveries)
        except Outage:
            await self._queue.give_back(deliveries)
            self._metrics.outages.inc()
            raise
        self._resumed()
        await self._settle(deliveries, results)
        seconds = time.perf_counter() - started
        self._metrics.seconds.observe(seconds)
        for delivery, result in zip(deliveries, results, strict=True):
            self._record(delivery, result, seconds)

    async def _settle(
        self, deliveries: Sequence[Delivery], results: Sequence[DeliverResult]
    ) -> None:
        groups: dict[Decision, list[Delivery]] = {}
        for delivery, result in zip(deliveries, results, strict=True):
            decision = decide(result, delivery.attempts, self._pool.max_attempts)
            groups.setdefault(decision, []).append(delivery)
        for decision, group in groups.items():
            match decision.outcome:
                case Outcome.ACKNOWLEDGE:
                    await self._queue.acknowledge(group)
                case Outcome.RETRY_LATER:
                    wait = self._pool.retry_interval
                    await self._queue.retry_later([(one, wait) for one in group])
                case Outcome.DEAD_LETTER:
                    reason = decision.reason or Reason.REFUSED
                    await self._queue.dead_letter([(one, reason) for one in group])

    def _record(self, delivery: Delivery, result: DeliverResult, seconds: float) -> None:
        self._metrics.attempts.labels(result.result).inc()
        self._log.info(
            "delivery.attempted",
            message_id=str(UUID(bytes=delivery.id)),
            attempt=delivery.attempts,
            result=result.result,
            reason=result.reason,
            ms=round(seconds * 1000, 2),
            **trace_of(delivery.payload),
        )

    def _interrupted(self, reason: str) -> None:
        """Said once, not at every turn."""
        if not self.problem:
            self._log.warning("delivery.interrupted", reason=reason)
        self.problem = reason

    def _resumed(self) -> None:
        if self.problem:
            self._log.info("delivery.resumed")
        self.problem = None
        self._waits = backoff(FIRST_WAIT_SECONDS, OUTAGE_CAP_SECONDS)
