"""An HTTP port of ours without TLS, in this process, and raw connections to it."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest_asyncio
from prometheus_client import REGISTRY

from gatepost.errors import GatepostError
from gatepost.problem import describe
from gatepost.service.asgi import Receive, Scope, Send, read_body, respond
from gatepost.service.live import Live
from gatepost.service.requests import RequestMetrics, Requests
from gatepost.service.serving import serve
from gatepost.service.sockets import bound
from tests.heard import HeardLog

LIMIT = 16 * 1024
PATIENCE = 10.0


@dataclass
class Answer:
    """One response as it came over the wire."""

    status: int
    headers: dict[str, str]
    body: bytes


class Port:
    """Where the application listens; what it was asked is in `seen`."""

    def __init__(self, site: "Site", number: int) -> None:
        self.number = number
        self.stop = site.stop
        self.live = site.live
        self.log = site.log
        self.log.heard.clear()
        self.seen: list[tuple[str, str, bytes]] = []
        self.hosts: list[list[bytes]] = []
        self._service = site.name
        self._changed = asyncio.Condition()
        self.begun = asyncio.Event()
        self.release = asyncio.Event()
        self.release.set()

    def counted(self, status: int) -> int:
        """Requests without a route that were answered so, since the server began."""
        labels = {"route": "other", "status": str(status)}
        name = f"gatepost_{self._service}_requests_total"
        return int(REGISTRY.get_sample_value(name, labels) or 0)

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.begun.set()
        try:
            body = await read_body(receive, LIMIT)
        except GatepostError as error:
            problem = describe(error)
            await respond(send, problem.status, problem.body())
            return
        self.hosts.append([value for name, value in scope["headers"] if name == b"host"])
        async with self._changed:
            self.seen.append((scope["method"], scope["path"], body))
            self._changed.notify_all()
        await self.release.wait()
        await respond(send, 200, b'{"read":%d}' % len(body))

    async def has_seen(self, number: int) -> None:
        """Waits until so many requests have been read."""
        async with asyncio.timeout(PATIENCE), self._changed:
            await self._changed.wait_for(lambda: len(self.seen) >= number)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator["Peer"]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.number)
        try:
            yield Peer(reader, writer)
        finally:
            writer.transport.abort()

    async def ask(self, data: bytes) -> Answer:
        """One connection, one request, one answer."""
        async with self.connection() as peer:
            peer.send(data)
            return await peer.answer()


class Peer:
    """Somebody who speaks bytes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    def send(self, data: bytes) -> None:
        self._writer.write(data)

    def send_eof(self) -> None:
        self._writer.write_eof()

    def abort(self) -> None:
        self._writer.transport.abort()

    async def pour(self, piece: bytes, most: int) -> int:
        """Sends the piece again and again until the other side is tired of it; says how much."""
        sent = 0
        with suppress(OSError):
            while sent < most:
                self._writer.write(piece)
                await self._writer.drain()
                sent += len(piece)
        return sent

    async def answer(self) -> Answer:
        async with asyncio.timeout(PATIENCE):
            head = await self._reader.readuntil(b"\r\n\r\n")
            first, *lines = head.decode("latin-1").split("\r\n")[:-2]
            headers = {n.lower(): v for n, _, v in (line.partition(": ") for line in lines)}
            body = await self._reader.readexactly(int(headers.get("content-length", 0)))
        return Answer(int(first.split()[1]), headers, body)

    async def line(self) -> bytes:
        async with asyncio.timeout(PATIENCE):
            return await self._reader.readline()

    async def ended(self) -> bytes:
        """Waits until the other side has closed; what was still on the way."""
        async with asyncio.timeout(PATIENCE):
            try:
                return await self._reader.read(-1)
            except ConnectionError:
                return b""


class Site:
    """A server, and the port that its requests are shown to."""

    def __init__(self) -> None:
        self._sock = socket.socket()
        self._sock.bind(("127.0.0.1", 0))
        self._sock.listen()
        self._sock.setblocking(False)
        bound(self._sock)
        self.log = HeardLog()
        self.name = f"port_{uuid4().hex}"
        self.live = Live(self.log)
        self.stop = asyncio.Event()
        self.port = self.fresh()

    def fresh(self) -> Port:
        self.port = Port(self, self._sock.getsockname()[1])
        return self.port

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Site"]:
        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            await self.port.app(scope, receive, send)

        whole = Requests(app, self.log, RequestMetrics(self.name))
        serving: asyncio.Task[Any] = asyncio.create_task(
            serve(whole, self._sock, None, self.stop, self.live)
        )
        yield self
        self.port.release.set()
        self.stop.set()
        async with asyncio.timeout(PATIENCE):
            await serving


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site() -> AsyncIterator[Site]:
    async with Site().running() as site:
        yield site


@pytest_asyncio.fixture(loop_scope="module")
async def port(site: Site) -> AsyncIterator[Port]:
    """A server that the tests of a module share: to stop one takes a fifth of a second."""
    port = site.fresh()
    yield port
    port.release.set()


@pytest_asyncio.fixture(loop_scope="module")
async def own_port() -> AsyncIterator[Port]:
    """One that a test may stop."""
    async with Site().running() as site:
        yield site.port
