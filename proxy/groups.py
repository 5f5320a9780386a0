"""Group commit: items that arrive while the last commit runs go together into the next.

A commit costs a flush to disk whether it holds one message or hundreds; under load they share it.
Each item is answered for itself.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Group(Generic[T, R]):
    """A group that commits items at most `limit` at a time, one group after the other.

    Groups begin at least `pace_seconds` apart, unless as many wait as went last time. After a pause
    the first item goes at once; under load, when answers bring the next requests, those gather
    instead of going one by one, and nobody waits for more than have come before.
    """

    def __init__(
        self,
        commit: Callable[[list[T]], Awaitable[list[R]]],
        *,
        limit: int = 500,
        pace_seconds: float = 0.0,
    ) -> None:
        self._commit = commit
        self._limit = limit
        self._pace = pace_seconds
        self._waiting: list[tuple[T, asyncio.Future[R]]] = []
        self._flight: asyncio.Task[None] | None = None
        self._took_off = 0.0
        self._in_flight = False
        self._expected = 1
        self._gathered: asyncio.Future[None] | None = None

    def submit(self, item: T) -> "asyncio.Future[R]":
        """Return the item's result, or the exception of the commit that it was in, as a future."""
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        if self._flight is None:
            self._flight = asyncio.create_task(self._fly())
        elif self._gathered and len(self._waiting) >= self._expected:
            self._end_gathering()
        return future

    def longest_flight(self) -> float:
        """Return how many seconds the commit under way has taken so far."""
        return time.monotonic() - self._took_off if self._in_flight else 0.0

    async def _fly(self) -> None:
        """Commit until nothing waits."""
        try:
            while self._waiting:
                await self._gather()
                group = self._waiting[: self._limit]
                del self._waiting[: self._limit]
                self._expected = len(group)
                await self._commit_group(group)
        finally:
            self._flight = None

    async def _gather(self) -> None:
        early = self._took_off + self._pace - time.monotonic()
        if early <= 0 or len(self._waiting) >= self._expected:
            return
        loop = asyncio.get_running_loop()
        self._gathered = loop.create_future()
        timer = loop.call_later(early, self._end_gathering)
        try:
            await self._gathered
        finally:
            timer.cancel()
            self._gathered = None

    def _end_gathering(self) -> None:
        if self._gathered and not self._gathered.done():
            self._gathered.set_result(None)

    async def _commit_group(self, group: list[tuple[T, "asyncio.Future[R]"]]) -> None:
        self._took_off, self._in_flight = time.monotonic(), True
        try:
            results = await self._commit([item for item, _ in group])
        except Exception as error:
            for _, future in group:
                if not future.done():
                    future.set_exception(error)
                    future.exception()  # whoever asked may have gone: it was looked at here
            return
        finally:
            self._in_flight = False
        for (_, future), result in zip(group, results, strict=True):
            if not future.done():
                future.set_result(result)
