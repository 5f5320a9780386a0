"""Background loops: each is `async def x_loop(stop, …)`, and all of a process run in one TaskGroup.

If a loop dies the process dies loudly and is started again by its supervisor: nothing limps on.
"""

import asyncio
import random
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Any, ParamSpec, Self

P = ParamSpec("P")

TURN_SECONDS = 0.005
"""Seconds that long work may take until others have their turn."""


class Loops:
    """The loops of one process. Where one dies, all are told to stop, and then the process dies.

    They are told as well as cancelled: a library that swallows a cancellation (redis-py has been
    seen to) must not keep half a process alive.
    """

    def __init__(self, stop: asyncio.Event) -> None:
        self._stop = stop
        self._group = asyncio.TaskGroup()

    def start(self, loop: Coroutine[Any, Any, None]) -> None:
        self._group.create_task(self._watched(loop))

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is not None:
            self._stop.set()
        await self._group.__aexit__(kind, error, traceback)

    async def _watched(self, loop: Coroutine[Any, Any, None]) -> None:
        try:
            await loop
        except BaseException:
            self._stop.set()
            raise


class Turn:
    """The turns of long work: after each step it asks whether it is the others' turn.

    One request has the loop only for so long at a time that nobody notices. The others don't have
    their turn after every step, because going once round the loop costs as much as many steps.
    """

    def __init__(self, seconds: float = TURN_SECONDS) -> None:
        self._seconds = seconds
        self._began = time.perf_counter()

    async def step(self) -> None:
        if time.perf_counter() - self._began > self._seconds:
            await asyncio.sleep(0)
            self._began = time.perf_counter()


def at_home(call: Callable[P, object]) -> Callable[P, None]:
    """Return a function that makes the call on the loop that runs here now, whatever thread asks
    for it: at once if it asks from that loop. If no loop runs here, whoever asks makes the call."""
    try:
        home = asyncio.get_running_loop()
    except RuntimeError:
        home = None

    def called(*args: P.args, **kwargs: P.kwargs) -> None:
        if home is None or asyncio._get_running_loop() is home:
            call(*args, **kwargs)
            return
        with suppress(RuntimeError):  # that loop has ended, and with it what was to be called
            home.call_soon_threadsafe(partial(call, *args, **kwargs))

    return called


async def pause(stop: asyncio.Event, seconds: float) -> None:
    """Wait so many seconds, or until it is time to stop."""
    if seconds <= 0:
        return
    try:
        async with asyncio.timeout(seconds):
            await stop.wait()
    except TimeoutError:
        pass


def backoff(first: float, cap: float) -> Iterator[float]:
    """Yield waits that double up to a cap, with jitter so that many don't come back at once."""
    wait = first
    while True:
        yield wait * random.uniform(0.5, 1.0)
        wait = min(wait * 2, cap)
