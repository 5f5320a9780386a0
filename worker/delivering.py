"""The delivery of a batch: reserve, deliver, settle. Exit is ledger first: what the main server has
committed is then applied to the queue, never the other way round.

Nothing here waits with a message in its hands (I3, I4): a message that has to wait goes back to
Redis.
"""

import asyncio
import collections
from collections.abc import Sequence
from uuid import UUID

from prometheus_client import Counter, Histogram

from gatepost.clock import Clock
from gatepost.ids import id_ms
from gatepost.logs import Log
from gatepost.loops import pause
from gatepost.metrics import LATENCY_SECONDS
from gatepost.queue import Delivery, Queue, QueueError, Reason, Turns
from gatepost.wire.contract import NO_ENVELOPE, DeliverResult, Result, SettleItem, Settlement
from gatepost.wire.envelope import trace_of
from gatepost.wire.vitals import Tally
from worker.breaker import Breaker
from worker.main_server import MainServer, Outage, envelope_of
from worker.policy import Decision, Outcome, decide
from worker.settings import Pool

BATCH = 200
LEASE_SECONDS = 30
BATCH_SECONDS = 20
"""The seconds for all calls about a batch: less than its lease, and than a pool has to stop."""

WAIT_SECONDS = 1.0
TURN_SECONDS_EACH, TURN_SECONDS = 0.005, 0.1
"""The seconds that a loop lets a queue rest after a batch that was not full, for each of its
messages, and at most: the more there is to do, the more share one call and one flush to disk. A
single message comes through at once, and so does what waits in another queue."""

UNDER_WAY_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200, 43_200, 345_600)
"""The buckets of the time under way, up to the longest that a message may live."""


class DeliveryMetrics:
    """The metrics of delivery. They are made once the metrics folder is known, hence not at
    import."""

    def __init__(self) -> None:
        self.attempts = Counter("gatepost_worker_attempts", "Attempts by result", ["result"])
        self.outages = Counter("gatepost_worker_outages", "Batches given back after an outage")
        self.late = Counter("gatepost_worker_late", "Settlements refused: the lease was lost")
        self.retries = Counter("gatepost_worker_retries", "Messages that wait for another attempt")
        self.failures = Counter(
            "gatepost_worker_failures", "Messages that were given up, by reason", ["reason"]
        )
        self.seconds = Histogram(
            "gatepost_worker_deliver_seconds", "Time of a batch", buckets=LATENCY_SECONDS
        )
        self.under_way = Histogram(
            "gatepost_worker_under_way_seconds",
            "From a message's acceptance to its delivery",
            buckets=UNDER_WAY_SECONDS,
        )
        for result in Result:  # a first one must show as a rise, not as a beginning
            self.attempts.labels(result)
        for reason in Reason:
            self.failures.labels(reason.name.lower())

    def attempted(self, results: Sequence[DeliverResult], decisions: Sequence[Decision]) -> None:
        for result, count in collections.Counter(one.result for one in results).items():
            self.attempts.labels(result).inc(count)
        for decision in decisions:
            if decision.outcome is Outcome.RETRY_LATER:
                self.retries.inc()
            elif decision.outcome is Outcome.DEAD_LETTER:
                self.failures.labels((decision.reason or Reason.REFUSED).name.lower()).inc()


class Deliverer:
    """The state that the delivery loops of one process share."""

    def __init__(
        self,
        log: Log,
        main_server: MainServer,
        breaker: Breaker,
        redis_breaker: Breaker,
        pool: Pool,
        clock: Clock,
        metrics: DeliveryMetrics,
        tally: Tally,
    ) -> None:
        self._log = log
        self._main_server = main_server
        self._breaker = breaker
        self._redis_breaker = redis_breaker
        self._pool = pool
        self._clock = clock
        self._metrics = metrics
        self._tally = tally

    async def delivery_loop(self, stop: asyncio.Event, turns: Turns) -> None:
        """Take batch after batch, from domain after domain; wait where nothing is ready."""
        now = asyncio.get_running_loop().time
        resting: dict[Queue, float] = {}
        while not stop.is_set():
            resting = {queue: until for queue, until in resting.items() if until > now()}
            try:
                batch = await turns.reserve(BATCH, LEASE_SECONDS, but=resting)
                self._redis_breaker.succeeded()
                if batch:
                    queue, deliveries = batch
                    until = now() + min(TURN_SECONDS, len(deliveries) * TURN_SECONDS_EACH)
                    await self.deliver_batch(queue, deliveries)
                    if len(deliveries) < BATCH:
                        resting[queue] = until
                elif resting:
                    await pause(stop, min(resting.values()) - now())
                else:
                    await turns.wait(WAIT_SECONDS)
            except Outage as error:
                await self._breaker.failed(str(error), stop)
            except QueueError as error:
                await self._redis_breaker.failed(str(error), stop)

    async def deliver_batch(
        self, queue: Queue, deliveries: Sequence[Delivery], *, held: bool = False
    ) -> None:
        """Bring one batch to its end; an outage gives all of it back and uses up no attempt. With
        `held` the messages may end, and are not to be delivered."""
        started = self._clock.now_ms()
        try:
            async with asyncio.timeout(BATCH_SECONDS):
                results = await self._main_server.deliver(queue.name, deliveries, held=held)
                decisions = [
                    decide(result, delivery.attempts, self._pool)
                    for delivery, result in zip(deliveries, results, strict=True)
                ]
                await self._tell_ledger(deliveries, results, decisions, started)
        except (Outage, TimeoutError) as error:
            await queue.give_back(deliveries)
            self._metrics.outages.inc()
            raise Outage(str(error) or "the main server takes too long") from None
        self._breaker.succeeded()
        await self._settle(queue, deliveries, decisions)
        self._record(deliveries, results, decisions, self._clock.now_ms() - started)

    async def _tell_ledger(
        self,
        deliveries: Sequence[Delivery],
        results: Sequence[DeliverResult],
        decisions: Sequence[Decision],
        started: int,
    ) -> None:
        """Tell the ledger: it must know of failures before the queue does, and is told of retries
        best-effort."""
        ended = self._clock.now_ms()
        items: list[SettleItem] = []
        for delivery, result, decision in zip(deliveries, results, decisions, strict=True):
            if not decision.in_ledger:
                items.append(_item(delivery, result, decision, started, ended))
        must_know = any(item.outcome is Settlement.FAILED for item in items)
        if not items:
            return
        try:
            await self._main_server.settle(items)
        except Outage:
            if must_know:
                raise

    async def _settle(
        self, queue: Queue, deliveries: Sequence[Delivery], decisions: Sequence[Decision]
    ) -> None:
        """Apply what the ledger has to the queue; a message that lost its lease meanwhile is
        refused."""
        pairs = list(zip(deliveries, decisions, strict=True))
        done = [d for d, decision in pairs if decision.outcome is Outcome.ACKNOWLEDGE]
        later = [
            (d, decision.delay) for d, decision in pairs if decision.outcome is Outcome.RETRY_LATER
        ]
        dead = [
            (d, decision.reason or Reason.REFUSED)
            for d, decision in pairs
            if decision.outcome is Outcome.DEAD_LETTER
        ]
        back = [d for d, decision in pairs if decision.outcome is Outcome.GIVE_BACK]
        applied = await queue.acknowledge(done) if done else []
        applied += await queue.retry_later(later) if later else []
        applied += await queue.dead_letter(dead) if dead else []
        applied += await queue.give_back(back) if back else []
        self._metrics.late.inc(applied.count(False))

    def _record(
        self,
        deliveries: Sequence[Delivery],
        results: Sequence[DeliverResult],
        decisions: Sequence[Decision],
        took_ms: int,
    ) -> None:
        now = self._clock.now_ms()
        self._metrics.seconds.observe(took_ms / 1000)
        self._metrics.attempted(results, decisions)
        for delivery, result, decision in zip(deliveries, results, decisions, strict=True):
            message_id = UUID(bytes=delivery.id)
            if result.result is Result.DELIVERED:
                self._metrics.under_way.observe(max(0, now - id_ms(message_id)) / 1000)
            trace = trace_of(delivery.payload)
            if what := _counted_as(result, decision):
                self._tally.count(what, trace.get("domain", ""))
            self._log.info(
                "delivery.attempted",
                message_id=str(message_id),
                attempt=delivery.attempts,
                result=result.result,
                reason=result.reason,
                ms=took_ms,
                **trace,
            )


def _counted_as(result: DeliverResult, decision: Decision) -> str | None:
    """Return the kind that a result counts as. A message that was delivered before counts no more:
    its answer was lost on the way."""
    if result.result is Result.DELIVERED:
        return "delivered"
    kinds = {Outcome.RETRY_LATER: "retried", Outcome.DEAD_LETTER: "failed"}
    return kinds.get(decision.outcome)


def _item(
    delivery: Delivery, result: DeliverResult, decision: Decision, start: int, end: int
) -> SettleItem:
    failed = decision.outcome is Outcome.DEAD_LETTER
    reason = decision.reason.name.lower() if decision.reason else result.reason or "refused"
    return SettleItem(
        message_id=UUID(bytes=delivery.id),
        attempt=delivery.attempts,
        outcome=Settlement.FAILED if failed else Settlement.RETRY,
        reason=reason,
        started_at=start,
        ended_at=end,
        due_at=None if failed else end + int(decision.delay * 1000),
        generation=delivery.generation,
        envelope=envelope_of(delivery) if failed else NO_ENVELOPE,
    )
