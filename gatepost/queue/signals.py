"""Waiting for something to be ready, without asking over and over.

A signal carries no message: it only says "look". Losing one costs at most the wait, and the pools'
release_due, every 250 ms, rings again when something is ready and nobody was told. So a waiter that
dies, or a reply that is lost, holds nothing up.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from redis.asyncio.cluster import RedisCluster

from gatepost.queue.errors import typed_errors
from gatepost.queue.scripts import Client

LONGEST_WAIT = 5.0


class Doorbell:
    """A wait on the signals of any number of partitions and queues.

    One BRPOP serves all of them where they are on one server. A cluster allows no command over
    several slots: there each signal has its own, and what is still waiting serves the next wait as
    well.
    """

    def __init__(self, redis: Client, signals: Sequence[bytes]) -> None:
        self._redis = redis
        apart = isinstance(redis, RedisCluster)
        self._groups = [(signal,) for signal in signals] if apart else [tuple(signals)]
        self._waiting: dict[tuple[bytes, ...], asyncio.Task[bool]] = {}
        self.longest_wait = _longest_wait(redis)

    async def wait(self, timeout_seconds: float) -> bool:
        """Wait until something may be ready; False if nothing was heard. It may give up early."""
        longest = min(timeout_seconds, self.longest_wait)
        if len(self._groups) == 1:
            return await self._listen(self._groups[0], longest)
        for group in self._groups:
            if group not in self._waiting:
                self._waiting[group] = asyncio.create_task(self._listen(group, self.longest_wait))
        done, _ = await asyncio.wait(
            self._waiting.values(), timeout=longest, return_when=asyncio.FIRST_COMPLETED
        )
        self._waiting = {group: task for group, task in self._waiting.items() if task not in done}
        heard = [task.result() for task in done]
        return any(heard)

    async def aclose(self) -> None:
        """Give up what is still waiting."""
        for task in self._waiting.values():
            task.cancel()
        await asyncio.gather(*self._waiting.values(), return_exceptions=True)
        self._waiting = {}

    async def _listen(self, group: tuple[bytes, ...], seconds: float) -> bool:
        with typed_errors():
            heard = await self._redis.execute_command("BRPOP", *group, seconds)
        return heard is not None


def _longest_wait(redis: Client) -> float:
    """Return what a connection may wait for a reply, less a margin: silence isn't an error here."""
    settings: dict[str, Any]
    if isinstance(redis, RedisCluster):
        settings = redis.connection_kwargs
    else:
        settings = redis.connection_pool.connection_kwargs
    patience = settings.get("socket_timeout")
    return LONGEST_WAIT if patience is None else min(LONGEST_WAIT, max(patience / 2, patience - 1))
