"""One post over a raw TLS connection, and what can be said of it afterwards.

Three ends: an answer, `NotSent` (not a byte of it has left us), `Broken` (nobody can know).
"""

import asyncio
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

CONNECT_SECONDS = 3.0
ANSWER_SECONDS = 10.0
_LARGEST_HEAD = 64 * 1024


class NotSent(Exception):
    """Nothing of the post was sent."""


class Broken(Exception):
    """It was sent, at least in part, and no whole answer came."""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Gate:
    """Where a proxy listens."""

    host: str
    port: int
    name: str = "proxy"


class Connections:
    """Keep-alive connections of one client to one proxy, as many as are needed at once.

    `context` is asked at each new one: the client's certificate may have been renewed.
    """

    def __init__(self, gate: Gate, context: Callable[[], ssl.SSLContext]) -> None:
        self._gate = gate
        self.name = gate.name
        self._context = context
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def post(self, path: str, headers: dict[str, str], body: bytes) -> Answer:
        reader, writer = await self._connection()
        whole = False
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                writer.write(_request(path, headers, body))
                await writer.drain()
                answer = await _read(reader)
            whole = answer.headers.get("connection", "").lower() != "close"
        except (OSError, EOFError, ValueError, asyncio.LimitOverrunError) as error:
            raise Broken(type(error).__name__) from None
        finally:
            if whole:
                self._idle.append((reader, writer))
            else:
                writer.transport.abort()
        return answer

    async def _connection(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        while self._idle:
            reader, writer = self._idle.pop()
            if not reader.at_eof() and not writer.is_closing():
                return reader, writer
            writer.transport.abort()
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                return await asyncio.open_connection(
                    self._gate.host,
                    self._gate.port,
                    ssl=self._context(),
                    server_hostname="localhost",
                    limit=_LARGEST_HEAD,
                )
        except OSError as error:
            raise NotSent(type(error).__name__) from None

    async def aclose(self) -> None:
        for _, writer in self._idle:
            with suppress(OSError):
                writer.transport.abort()


def _request(path: str, headers: dict[str, str], body: bytes) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "host: localhost", f"content-length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


async def _read(reader: asyncio.StreamReader) -> Answer:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip().split("\r\n")
    headers = {name.lower(): value for name, _, value in (one.partition(": ") for one in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Answer(int(first.split()[1]), headers, body)
