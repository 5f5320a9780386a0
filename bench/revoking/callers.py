"""Those who call while a certificate is revoked: on connections that they have, and on new ones.

Each notes when the last request that was accepted began. Nothing is posted: asking who one is goes
the same way up to the check that matters, and leaves no messages behind.
"""

import asyncio
import socket
import ssl
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field

HOST = "127.0.0.1"
REQUEST = b"GET /api/v1/whoami HTTP/1.1\r\nhost: localhost\r\n\r\n"
GAP_SECONDS, QUIET_GAP_SECONDS = 0.01, 0.25


@dataclass
class Seen:
    """What callers of one kind have seen. Times are those of the monotonic clock."""

    accepted: int = 0
    refused: int = 0
    unsure: int = 0
    last_accepted: float = 0.0
    """When the last request began that was accepted."""
    ended: list[float] = field(default_factory=list)
    """When connections ended that the caller would have kept."""

    def note(self, began: float, status: int) -> None:
        if status == 200:
            self.accepted += 1
            self.last_accepted = max(self.last_accepted, began)
        elif status == 503:
            self.unsure += 1
        else:
            self.refused += 1


class Live:
    """Connections that stay open, each asking again and again."""

    def __init__(self, port: int, context: ssl.SSLContext, gap: float) -> None:
        self._port, self._context, self._gap = port, context, gap
        self.seen = Seen()
        self._tasks: list[asyncio.Task[None]] = []

    async def open(self, number: int) -> None:
        """Returns when each has been answered once."""
        ready = [asyncio.Event() for _ in range(number)]
        self._tasks = [asyncio.create_task(self._run(one)) for one in ready]
        async with asyncio.timeout(30):
            await asyncio.gather(*(one.wait() for one in ready))

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run(self, ready: asyncio.Event) -> None:
        reader, writer = await asyncio.open_connection(
            HOST, self._port, ssl=self._context, server_hostname="localhost"
        )
        try:
            while True:
                began = time.monotonic()
                writer.write(REQUEST)
                self.seen.note(began, await _answer(reader))
                ready.set()
                await asyncio.sleep(self._gap)
        except (OSError, asyncio.IncompleteReadError):
            self.seen.ended.append(time.monotonic())
        finally:
            writer.transport.abort()


async def _answer(reader: asyncio.StreamReader) -> int:
    head = await reader.readuntil(b"\r\n\r\n")
    at = head.lower().index(b"content-length: ") + 16
    await reader.readexactly(int(head[at : head.index(b"\r\n", at)]))
    return int(head[9:12])


class Newcomers:
    """Threads that connect, ask once, and connect again; with `resume`, with the last session."""

    def __init__(self, port: int, context: ssl.SSLContext, number: int, *, resume: bool) -> None:
        self._port, self._context, self._resume = port, context, resume
        self._stop = threading.Event()
        self.seen = Seen()
        self.resumed = 0
        """How many sessions the server did take up again."""
        self._threads = [threading.Thread(target=self._run) for _ in range(number)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(30)

    def _run(self) -> None:
        session: ssl.SSLSession | None = None
        while not self._stop.is_set():
            began = time.monotonic()
            status = 0
            with suppress(OSError):
                status, session = self._ask(session if self._resume else None)
            self.seen.note(began, status)

    def _ask(self, session: ssl.SSLSession | None) -> tuple[int, ssl.SSLSession | None]:
        with (
            socket.create_connection((HOST, self._port), 5) as plain,
            self._context.wrap_socket(plain, server_hostname="localhost", session=session) as tls,
        ):
            tls.sendall(REQUEST)
            head = tls.recv(65536)
            self.resumed += bool(tls.session_reused)
            return int(head[9:12] or 0), tls.session
