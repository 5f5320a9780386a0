"""Group commit: what arrives while the last commit runs goes together into the next.

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
    """Commits items in groups of at most `limit`, with at most `flights` commits under way."""

    def __init__(
        self, commit: Callable[[list[T]], Awaitable[list[R]]], *, limit: int = 500, flights: int = 1
    ) -> None:
        self._commit = commit
        self._limit = limit
        self._idle_flights = flights
        self._waiting: list[tuple[T, asyncio.Future[R]]] = []
        self._flying: set[asyncio.Task[None]] = set()
        self._takeoffs: dict[int, float] = {}

    def submit(self, item: T) -> "asyncio.Future[R]":
        """The item's result, or the exception of the commit that it was in."""
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        if self._idle_flights:
            self._idle_flights -= 1
            flight = asyncio.create_task(self._fly())
            self._flying.add(flight)
            flight.add_done_callback(self._flying.discard)
        return future

    def longest_flight(self) -> float:
        """How many seconds the oldest commit under way has taken so far."""
        now = time.monotonic()
        return now - min(self._takeoffs.values(), default=now)

    async def _fly(self) -> None:
        """Commits until nothing waits."""
        try:
            while self._waiting:
                group = self._waiting[: self._limit]
                del self._waiting[: self._limit]
                await self._commit_group(group)
        finally:
            self._idle_flights += 1

    async def _commit_group(self, group: list[tuple[T, "asyncio.Future[R]"]]) -> None:
        flight = id(group)
        self._takeoffs[flight] = time.monotonic()
        try:
            results = await self._commit([item for item, _ in group])
        except Exception as error:
            for _, future in group:
                if not future.done():
                    future.set_exception(error)
                    future.exception()  # whoever asked may have gone: it was looked at here
            return
        finally:
            del self._takeoffs[flight]
        for (_, future), result in zip(group, results, strict=True):
            if not future.done():
                future.set_result(result)
