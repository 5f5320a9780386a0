"""One process's view of an outage: said once, waited out with growing patience, soon over."""

import asyncio

from tests.heard import HeardLog
from worker.breaker import FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS, Breaker


async def waits(breaker: Breaker, times: int, stop: asyncio.Event) -> list[float]:
    loop, taken = asyncio.get_running_loop(), []
    for _ in range(times):
        started = loop.time()
        await breaker.failed("away", stop)
        taken.append(loop.time() - started)
    return taken


async def test_an_outage_is_said_once_and_so_is_its_end() -> None:
    log, stop = HeardLog(), asyncio.Event()
    breaker = Breaker(log)
    stop.set()
    breaker.succeeded()
    for _ in range(20):
        await breaker.failed("away", stop)
    assert breaker.problem == "away"
    breaker.succeeded()
    breaker.succeeded()
    assert breaker.problem is None
    assert log.events() == ["delivery.interrupted", "delivery.resumed"]


async def test_each_wait_is_longer_and_the_first_after_a_success_is_short_again() -> None:
    breaker, stop = Breaker(HeardLog()), asyncio.Event()
    first, second, third = await waits(breaker, 3, stop)
    assert FIRST_WAIT_SECONDS / 2 <= first < second + 0.05 < third + 0.15
    breaker.succeeded()
    assert (await waits(breaker, 1, stop))[0] < 2 * FIRST_WAIT_SECONDS


def test_no_wait_keeps_a_pool_from_draining_within_two_seconds() -> None:
    assert LONGEST_WAIT_SECONDS < 2.0


async def test_a_stop_ends_the_wait() -> None:
    breaker, stop = Breaker(HeardLog()), asyncio.Event()
    stop.set()
    assert sum(await waits(breaker, 50, stop)) < 0.5
