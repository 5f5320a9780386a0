"""Many requests over few connections, byte for byte as they are given, and the status of each."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")
HUNG_UP = 0
ANSWER_SECONDS = 30.0


@dataclass
class Peer:
    """Where requests go, and by which certificate."""

    host: str
    port: int
    context: ssl.SSLContext | None = None


@dataclass
class Answers:
    """How often each status was the answer, and what was answered otherwise than it must be."""

    statuses: dict[int, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        return sum(self.statuses.values())

    @property
    def faults(self) -> int:
        """Answers that say that the fault is ours: 503 says "not now", and is none."""
        return sum(n for status, n in self.statuses.items() if status >= 500 and status != 503)

    def note(self, status: int) -> None:
        self.statuses[status] = self.statuses.get(status, 0) + 1


class Connection:
    """One connection that is opened again whenever the other side has closed it."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def ask(self, request: bytes) -> int:
        """Return the status of the answer, HUNG_UP if there was none.

        A connection that was used before may have been closed in the meantime: then it is asked
        once more on a new one.
        """
        fresh = self._writer is None
        status = await self._ask(request)
        if status == HUNG_UP and not fresh:
            status = await self._ask(request)
        return status

    def close(self) -> None:
        if self._writer is not None:
            self._writer.transport.abort()
        self._reader = self._writer = None

    async def _ask(self, request: bytes) -> int:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                if self._writer is None or self._reader is None:
                    peer = self._peer
                    self._reader, self._writer = await asyncio.open_connection(
                        peer.host, peer.port, ssl=peer.context
                    )
                self._writer.write(request)
                status, closes = await _answer(self._reader, request.startswith(b"HEAD "))
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            self.close()
            return HUNG_UP
        if closes:
            self.close()
        return status


async def _answer(reader: asyncio.StreamReader, bodiless: bool) -> tuple[int, bool]:
    """Read one answer; say its status, and whether it is the connection's last one.

    Of an answer that doesn't say how long it is, nothing more is read.
    """
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    lengths = [line for line in head.split(b"\r\n") if line.startswith(b"content-length:")]
    status = int(head[9:12])
    if bodiless or status in (204, 304):
        return status, b"connection: close" in head
    if not lengths:
        return status, True
    await reader.readexactly(int(lengths[0].partition(b":")[2]))
    return status, b"connection: close" in head


def request_bytes(method: str, path: str, headers: dict[str, str], body: bytes) -> bytes:
    """Spell a request; values that no header may hold are sent as they are."""
    lines = [f"{method} {path} HTTP/1.1", "host: localhost"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    lines += [f"content-length: {len(body)}", "", ""]
    return "\r\n".join(lines).encode("utf-8") + body


async def each(
    peer: Peer,
    inputs: Iterable[T],
    ask: Callable[[Connection, T], Awaitable[None]],
    *,
    connections: int = 16,
) -> None:
    """Work through the inputs over so many connections, side by side."""
    source = iter(inputs)

    async def work() -> None:
        connection = Connection(peer)
        try:
            for one in source:
                await ask(connection, one)
        finally:
            connection.close()

    async with asyncio.TaskGroup() as group:
        for _ in range(connections):
            group.create_task(work())
