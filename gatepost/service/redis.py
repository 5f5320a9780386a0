"""The watch over Redis that /readyz shows, and by which this process sets its clock."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from redis.asyncio import Redis
from redis.exceptions import RedisError

from gatepost.clock import Clock
from gatepost.logs import Log
from gatepost.loops import pause

WATCH_SECONDS = 1.0
ANSWER_SECONDS = 2.0
"""Seconds for an answer: a Redis that hangs must hold up neither the watch nor the start of a
process."""


@dataclass(slots=True)
class RedisWatch:
    """The state of Redis: `problem` says what is wrong with it, None when it answers."""

    problem: str | None = "not asked yet"
    answers: Callable[[], None] = lambda: None
    """Called each time that Redis has answered."""


async def redis_loop(
    stop: asyncio.Event, log: Log, redis: Redis, watch: RedisWatch, clock: Clock
) -> None:
    noted = None
    while not stop.is_set():
        problem = await look(redis, clock)
        if problem != watch.problem:
            (log.warning if problem else log.info)("redis.changed", problem=problem)
        watch.problem = problem
        if problem is None:
            watch.answers()
        if clock.note != noted:
            (log.warning if clock.note else log.info)("clock.changed", problem=clock.note)
            noted = clock.note
        await pause(stop, WATCH_SECONDS)


async def look(redis: Redis, clock: Clock) -> str | None:
    """Read Redis's time and correct the clock by it; return what is wrong if it doesn't answer."""
    started = time.perf_counter()
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            seconds, micros = await redis.time()
    except (RedisError, TimeoutError) as error:
        return f"Redis does not answer: {type(error).__name__}"
    took = (time.perf_counter() - started) * 1000
    clock.correct(int(seconds) * 1000 + int(micros) // 1000, took)
    return None
