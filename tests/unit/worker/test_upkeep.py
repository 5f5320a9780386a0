"""What keeps the queues going: all that is due or lost at once, none at the cost of others."""

import asyncio
from typing import Any

import httpx

from gatepost.queue import Delivery, QueueUnavailable
from gatepost.wire.contract import Result
from tests.heard import HeardLog, until
from tests.unit.worker.pool import FakeQueue, Worker, delivery
from worker.delivering import BATCH
from worker.upkeep import PIECE, TICK_SECONDS, expiry_loop, queues_loop, upkeep_loop


class Kept(FakeQueue):
    """A queue in which so much is due, lost or expired."""

    def __init__(self, due: int = 0, lost: int = 0, expired: int = 0) -> None:
        super().__init__()
        self.due, self.lost, self.expired = due, lost, expired
        self.away = False
        self.rounds = 0

    async def release_due(self, limit: int) -> int:
        await asyncio.sleep(0)
        if self.away:
            raise QueueUnavailable
        self.rounds += 1
        taken = min(limit, self.due)
        self.due -= taken
        return taken

    async def reclaim(self, limit: int) -> int:
        taken = min(limit, self.lost)
        self.lost -= taken
        return taken

    async def expire(self, limit: int, _lease: float) -> list[Delivery]:
        taken = min(limit, self.expired)
        self.expired -= taken
        return [delivery() for _ in range(taken)]


class SomeTurns:
    def __init__(self, *queues: Kept) -> None:
        self.queues = list(queues)
        self.served: list[Any] = []

        self.paused: set[str] = set()

    async def serve(self, queues: Any, paused: set[str]) -> None:
        self.served.append([queue.name for queue in queues])
        self.paused = paused


async def run(loop: Any, stop: asyncio.Event, condition: Any, seconds: float = 5.0) -> float:
    """Runs a loop until it is so; how long that took."""
    task, clock = asyncio.create_task(loop), asyncio.get_running_loop()
    started = clock.time()
    await until(condition, seconds)
    took = clock.time() - started
    stop.set()
    await task
    return took


async def test_a_pools_death_is_made_good_within_a_second() -> None:
    """Sixty-four processes' batches, and a hundred thousand that fall due in one moment."""
    lost, due = Kept(lost=64 * BATCH), Kept(due=100_000)
    turns: Any = SomeTurns(lost, due)
    stop, log = asyncio.Event(), HeardLog()
    took = await run(upkeep_loop(stop, log, turns), stop, lambda: not lost.lost and not due.due)
    assert took < 1.0
    assert sum(one["count"] for one in log.of("leases.reclaimed")) == 64 * BATCH


async def test_one_queue_with_much_to_do_does_not_keep_the_others_waiting() -> None:
    flood, quiet = Kept(due=100 * PIECE), Kept()
    turns: Any = SomeTurns(flood, quiet)
    stop = asyncio.Event()
    await run(upkeep_loop(stop, HeardLog(), turns), stop, lambda: not flood.due)
    assert quiet.rounds >= 100


async def test_a_queue_that_can_not_be_kept_does_not_end_the_loop() -> None:
    broken, quiet = Kept(due=1), Kept()
    broken.away = True
    turns: Any = SomeTurns(broken, quiet)
    stop = asyncio.Event()
    task = asyncio.create_task(upkeep_loop(stop, HeardLog(), turns))
    quiet.due = 1
    await until(lambda: not quiet.due)
    broken.away = False
    await until(lambda: not broken.due, 5 * TICK_SECONDS)
    stop.set()
    await task


async def test_what_has_expired_ends_in_the_ledger_and_then_in_the_queue() -> None:
    worker, queue, stop = Worker(), Kept(expired=5 * BATCH + 3), asyncio.Event()
    turns: Any = SomeTurns(queue)
    loop = expiry_loop(stop, turns, worker.deliverer, worker.breaker)
    await run(loop, stop, lambda: len(queue.done) == 5 * BATCH + 3)
    assert [len(offers) for offers in worker.main.offers] == [BATCH] * 5 + [3]


async def test_what_expires_in_a_paused_queue_ends_or_stays_and_is_never_delivered() -> None:
    """A main server may find that it has time left."""
    worker, queue, stop = Worker(), Kept(expired=3), asyncio.Event()
    turns: Any = SomeTurns(queue)
    turns.paused = {queue.name}
    loop = expiry_loop(stop, turns, worker.deliverer, worker.breaker)
    worker.main.held = Result.HELD
    await run(loop, stop, lambda: len(queue.given_back) == 3)
    assert [offer.held for offer in worker.main.offers[0]] == [True] * 3
    assert [len(ends) for ends in (queue.done, queue.dead, queue.later)] == [0, 0, 0]
    turns.paused, queue.expired, stop = set(), 1, asyncio.Event()
    await run(expiry_loop(stop, turns, worker.deliverer, worker.breaker), stop, lambda: queue.done)
    assert not worker.main.offers[-1][0].held


async def test_nothing_is_taken_to_be_expired_while_the_main_server_is_away() -> None:
    worker, queue, stop = Worker(), Kept(expired=1), asyncio.Event()
    turns: Any = SomeTurns(queue)
    worker.breaker.problem = "away"
    task = asyncio.create_task(expiry_loop(stop, turns, worker.deliverer, worker.breaker))
    await asyncio.sleep(3 * TICK_SECONDS)
    assert queue.expired == 1
    worker.breaker.succeeded()
    await until(lambda: queue.done)
    stop.set()
    await task


class Names:
    """Queues by name."""

    def full_name(self, name: str | None) -> str:
        return name or "message_queue"

    def named(self, name: str) -> Any:
        queue = Kept()
        queue.name = name
        return queue


async def test_the_queues_served_are_each_served_once_in_an_order_of_their_own() -> None:
    worker, turns, stop = Worker(), SomeTurns(), asyncio.Event()
    worker.main.names = ["b:messages", None, "a:messages", None, "b:messages"]
    worker.main.paused = ["b:messages"]
    arguments: Any = (stop, worker.main.client, worker.breaker, Names(), [turns])
    await run(queues_loop(*arguments), stop, lambda: turns.served)
    assert turns.served[0] == ["a:messages", "b:messages", "message_queue"]
    assert turns.paused == {"b:messages"}


async def test_without_the_main_server_the_queues_stay_as_they_are_until_it_is_back() -> None:
    worker, turns, stop = Worker(), SomeTurns(), asyncio.Event()
    worker.main.fault = lambda _path: httpx.Response(503)
    arguments: Any = (stop, worker.main.client, worker.breaker, Names(), [turns])
    task = asyncio.create_task(queues_loop(*arguments))
    await until(lambda: worker.breaker.problem)
    assert turns.served == []
    worker.main.fault = lambda _path: None
    await until(lambda: turns.served, 2.0)
    assert worker.breaker.problem is None
    stop.set()
    await task
