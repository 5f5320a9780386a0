"""A wire between a service and a store that can be cut, frozen or taken away, at an instant that a
test chooses: a TCP proxy with a thread of its own, so that the test may block."""

import asyncio
import random
import socket
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from enum import Enum
from types import TracebackType
from typing import Any, Self

from infra.dev.ports import HOST

READ_SIZE = 65536
CONNECT_SECONDS = 1.0
Address = tuple[str, int]


class Fault(Enum):
    """What befalls a piece of a request."""

    NONE = "it passes"
    LOSE_REQUEST = "it is lost with the connection"
    LOSE_REPLY = "it arrives, and the connection is lost before the reply"
    HOLD = "it and all that follows waits until the wire is thawed"


def _addresses(upstreams: Sequence[int | Address]) -> list[Address]:
    return [(HOST, one) if isinstance(one, int) else one for one in upstreams]


def pass_on(_request: bytes) -> Fault:
    return Fault.NONE


class Wire:
    """Listens on `port`. `rule` decides about each piece that comes from the side of the caller;
    `at_lost_reply` is called when a reply has come that is lost: what was asked is done.

    Several upstreams share the connections: each goes to one that takes it.
    """

    def __init__(self, *upstreams: int | Address, host: str = HOST) -> None:
        self.rule: Callable[[bytes], Fault] = pass_on
        self.at_lost_reply: Callable[[], None] = lambda: None
        self.host = host
        self.port = 0
        self.lost = 0
        self.reply_delay = 0.0
        self._upstreams = _addresses(upstreams)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._listening: socket.socket | None = None
        self._links: set[asyncio.Task[None]] = set()
        self._flows = asyncio.Event()

    def lose(self, fault: Fault, of: bytes, times: int = 1) -> None:
        """The next requests that hold these bytes suffer the fault, so many times."""
        left = times

        def rule(request: bytes) -> Fault:
            nonlocal left
            if of not in request or not left:
                return Fault.NONE
            left -= 1
            return fault

        self.rule = rule

    def heal(self) -> None:
        self.rule = pass_on
        self.at_lost_reply = lambda: None

    def lead_to(self, *upstreams: int | Address) -> None:
        """From now on connections go there; those that are open end."""
        self._upstreams = _addresses(upstreams)
        self.cut()

    def freeze(self) -> None:
        """Nothing passes in either direction; connections stay, and new ones are taken."""
        self._loop.call_soon_threadsafe(self._flows.clear)

    def thaw(self) -> None:
        self._loop.call_soon_threadsafe(self._flows.set)

    def cut(self) -> None:
        """Ends all connections; new ones are taken."""
        self._do(self._cut())

    def refuse(self) -> None:
        """Ends all connections and takes none, as if there were no server."""
        self._do(self._refuse())

    def accept(self) -> None:
        self._do(self._listen())

    def __enter__(self) -> Self:
        self._thread.start()
        self.thaw()
        self.accept()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.refuse()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _do(self, work: Any) -> None:
        future: Future[None] = asyncio.run_coroutine_threadsafe(work, self._loop)
        future.result(10)

    async def _listen(self) -> None:
        if self._listening is None:
            self._listening = socket.create_server((self.host, self.port), backlog=100)
            self._listening.setblocking(False)
            self.port = self._listening.getsockname()[1]
            self._loop.add_reader(self._listening, self._take)

    async def _refuse(self) -> None:
        if self._listening is not None:
            self._loop.remove_reader(self._listening)
            self._listening.close()
            self._listening = None
        await self._cut()

    def _take(self) -> None:
        """At once, and not by asyncio's server: that one leaves a connection open that it has taken
        in the moment in which it is closed.
        """
        if self._listening is not None:
            with suppress(OSError):  # who called has gone
                caller, _ = self._listening.accept()
                link = self._loop.create_task(self._serve(caller))
                self._links.add(link)
                link.add_done_callback(self._links.discard)
                link.add_done_callback(lambda _: caller.close())

    async def _cut(self) -> None:
        links = list(self._links)
        for link in links:
            link.cancel()
        await asyncio.gather(*links, return_exceptions=True)

    async def _serve(self, caller: socket.socket) -> None:
        ends = []
        try:
            reader, writer = await asyncio.open_connection(sock=caller)
            ends.append(writer)
            from_store, to_store = await self._connect()
            ends.append(to_store)
            await self._carry((reader, writer), (from_store, to_store))
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            for end in ends:
                end.transport.abort()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        for host, port in random.sample(self._upstreams, len(self._upstreams)):
            with suppress(OSError, TimeoutError):
                async with asyncio.timeout(CONNECT_SECONDS):
                    return await asyncio.open_connection(host, port)
        raise ConnectionRefusedError

    async def _carry(
        self,
        caller: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        store: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        """Until either side ends, or a fault does."""
        doomed = asyncio.Event()
        ways = [
            asyncio.create_task(self._ask(caller[0], store[1], doomed)),
            asyncio.create_task(self._answer(store[0], caller[1], doomed)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)

    async def _ask(
        self, caller: asyncio.StreamReader, store: asyncio.StreamWriter, doomed: asyncio.Event
    ) -> None:
        while request := await caller.read(READ_SIZE):
            await self._flows.wait()
            fault = self.rule(request)
            if fault is not Fault.NONE:
                self.lost += 1
            if fault is Fault.LOSE_REQUEST:
                return
            if fault is Fault.LOSE_REPLY:
                doomed.set()
            if fault is Fault.HOLD:
                self._flows.clear()
                await self._flows.wait()
            store.write(request)
            with suppress(OSError):
                await store.drain()

    async def _answer(
        self, store: asyncio.StreamReader, caller: asyncio.StreamWriter, doomed: asyncio.Event
    ) -> None:
        while reply := await store.read(READ_SIZE):
            await self._flows.wait()
            if self.reply_delay:
                await asyncio.sleep(self.reply_delay)
            if doomed.is_set():
                self.at_lost_reply()
                return
            caller.write(reply)
            with suppress(OSError):
                await caller.drain()
