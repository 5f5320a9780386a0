"""A loop on a thread of its own: for what must go on while the process's own loop is busy."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeAlias

import uvloop

Main: TypeAlias = Callable[[asyncio.Event], Coroutine[Any, Any, None]]


async def thread_loop(stop: asyncio.Event, name: str, main: Main) -> None:
    """Run `main`, which is given a stop of its own, on a thread of its own; raise what it
    raises."""
    thread = _Thread(asyncio.get_running_loop(), name, main)
    stopping = asyncio.ensure_future(stop.wait())
    try:
        either: set[asyncio.Future[Any]] = {thread.ended, stopping}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopping.cancel()
        thread.tell_to_stop()
    await thread.ended


class _Thread:
    """A daemon thread with a loop: what hangs in it doesn't keep a process that is to end."""

    def __init__(self, home: asyncio.AbstractEventLoop, name: str, main: Main) -> None:
        self.ended: asyncio.Future[None] = home.create_future()
        self._home = home
        self._main = main
        self._loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
        self._stop = asyncio.Event()
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def tell_to_stop(self) -> None:
        with suppress(RuntimeError):  # it has ended by itself
            self._loop.call_soon_threadsafe(self._stop.set)

    def _run(self) -> None:
        error: BaseException | None = None
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._main(self._stop))
        except BaseException as raised:
            error = raised
        with suppress(RuntimeError):  # nobody waits any more
            self._home.call_soon_threadsafe(self._end, error)

    def _end(self, error: BaseException | None) -> None:
        if self.ended.done():
            return
        if error is None:
            self.ended.set_result(None)
        else:
            self.ended.set_exception(error)
