"""The watch over Redis that /readyz shows, and that lets a process say no before it tries."""

import asyncio
from dataclasses import dataclass

from redis.asyncio import Redis
from redis.exceptions import RedisError

from gatepost.logs import Log
from gatepost.loops import pause

WATCH_SECONDS = 1.0


@dataclass(slots=True)
class RedisWatch:
    """What is wrong with Redis; None when it answers."""

    problem: str | None = "not asked yet"


async def redis_loop(stop: asyncio.Event, log: Log, redis: Redis, watch: RedisWatch) -> None:
    while not stop.is_set():
        problem = None
        try:
            await redis.ping()
        except RedisError as error:
            problem = f"Redis does not answer: {type(error).__name__}"
        if problem != watch.problem:
            (log.warning if problem else log.info)("redis.changed", problem=problem)
        watch.problem = problem
        await pause(stop, WATCH_SECONDS)
