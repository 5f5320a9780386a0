"""What all measurements of the engine share: a Redis of its own, messages, time."""

import os
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.rig.machine import cpu_seconds
from gatepost.queue import Entry, connect
from infra.dev.engines import Engines, RedisServer

PAYLOAD = os.urandom(400)
LIFETIME_MS = 96 * 3_600_000


@dataclass(frozen=True)
class Bed:
    """A running Redis and a client of it."""

    server: RedisServer
    redis: Any

    def cpu(self) -> float:
        """Return the CPU seconds that Redis has used."""
        return cpu_seconds({"redis": [self.server.pid]})["redis"]

    async def memory(self) -> int:
        used: int = (await self.redis.info("memory"))["used_memory"]
        return used


@contextmanager
def running_redis(engines: Engines, folder: Path) -> Iterator[RedisServer]:
    """A Redis with the settings of production (`appendfsync always`)."""
    with RedisServer(engines, folder) as server:
        yield server


async def open_bed(server: RedisServer) -> Bed:
    redis = connect(server.url())
    await redis.flushall()
    # A rewrite of the log in the middle of a measurement would be measured with it.
    await redis.config_set("auto-aof-rewrite-percentage", 0)
    return Bed(server, redis)


def messages(count: int) -> list[Entry]:
    """As the proxy makes them: ids that begin with the time, an expiry, 400 bytes."""
    now = int(time.time() * 1000)
    return [
        Entry(now.to_bytes(6, "big") + os.urandom(10), PAYLOAD, expires_at=now + LIFETIME_MS)
        for _ in range(count)
    ]


async def timed(do: Callable[[], Awaitable[object]]) -> float:
    """Return how many seconds it takes."""
    began = time.perf_counter()
    await do()
    return time.perf_counter() - began
