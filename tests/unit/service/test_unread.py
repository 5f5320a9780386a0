"""Who asks and doesn't read the answer: cut off in time, and worth little memory meanwhile."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvloop

from gatepost.service import connection, sockets, writing
from gatepost.service.asgi import Receive, Scope, Send, respond
from gatepost.service.http import PIPELINED
from gatepost.service.live import Live
from gatepost.service.serving import serve
from gatepost.trust.identity import Role
from gatepost.trust.tls import browser_context
from main_server.ca.authority import Usage
from tests.factories import Pki, identity
from tests.heard import HeardLog, until

ANSWER = b"x" * 300_000
GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
LAST = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
ENOUGH = 64 << 10

Run = Callable[[Coroutine[Any, Any, None]], None]


class Place:
    """A port of ours whose answers are long, and how many it has begun with."""

    def __init__(self, port: int, live: Live) -> None:
        self.port = port
        self.live = live
        self.asked = 0
        self.answer = ANSWER

    async def app(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        self.asked += 1
        await respond(send, 200, self.answer)

    def unsent(self) -> int:
        """What the kernel keeps for its peers, in bytes."""
        return sum(sockets.untaken(one.sock) for one in self.live.connections)

    def connect(self, context: ssl.SSLContext | None) -> socket.socket:
        """Blocks: it is called in a thread. What it receives is its own affair."""
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.settimeout(10)
        sock.connect(("127.0.0.1", self.port))
        return context.wrap_socket(sock, server_hostname="localhost") if context else sock


@asynccontextmanager
async def opened(log: HeardLog, tls: ssl.SSLContext | None) -> AsyncIterator[Place]:
    listener = socket.socket(proto=socket.IPPROTO_TCP)
    sockets.bound(listener)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    listener.setblocking(False)
    place, stop = Place(listener.getsockname()[1], Live(log)), asyncio.Event()
    task = asyncio.create_task(serve(place.app, listener, tls, stop, place.live))
    try:
        yield place
    finally:
        stop.set()
        async with asyncio.timeout(10):
            await task


@pytest.fixture(params=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    return asyncio.run if request.param == "asyncio" else uvloop.run


@pytest.fixture(params=["plain", "tls"])
def sides(
    request: pytest.FixtureRequest, pki: Pki
) -> tuple[ssl.SSLContext | None, ssl.SSLContext | None]:
    """What the server speaks, and its peer."""
    if request.param == "plain":
        return None, None
    pair = pki.issue(identity(Role.PORTAL, "gatepost", "portal-1"), Usage.SERVER)
    peer = ssl.create_default_context(cafile=pair.ca)
    return browser_context(pair.files, lambda _: None), peer


Sides = tuple[ssl.SSLContext | None, ssl.SSLContext | None]


def test_who_does_not_read_is_cut_off(
    monkeypatch: pytest.MonkeyPatch, run: Run, sides: Sides
) -> None:
    monkeypatch.setattr(writing, "PATIENCE_SECONDS", 0.3)

    async def scene() -> None:
        log = HeardLog()
        async with opened(log, sides[0]) as place:
            peer = await asyncio.to_thread(place.connect, sides[1])
            with peer:
                await asyncio.to_thread(peer.sendall, GET * (PIPELINED // 2))
                await until(lambda: place.unsent() > ENOUGH)
                assert place.unsent() <= 2 * sockets.SEND_BYTES
                await until(lambda: not place.live.connections)
            assert len(place.live.crowd) == 0
        assert place.asked < PIPELINED // 2, "the later ones were never begun with"
        [event] = log.of("connections.refused")
        assert event["bound"] == "answers that are not read"

    run(scene())


def test_who_reads_slowly_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, run: Run, sides: Sides
) -> None:
    """As long as he takes some of it each time that we look."""
    monkeypatch.setattr(writing, "PATIENCE_SECONDS", 0.3)
    monkeypatch.setattr(writing, "PROGRESS", 1)  # this machine may be busy

    async def scene() -> None:
        log, got = HeardLog(), 0
        async with opened(log, sides[0]) as place:
            peer = await asyncio.to_thread(place.connect, sides[1])
            with peer:
                await asyncio.to_thread(peer.sendall, GET * 2)
                while got < 2 * len(ANSWER):
                    piece = await asyncio.to_thread(peer.recv, 1 << 16)
                    assert piece
                    got += len(piece)
                    await asyncio.sleep(0.01)
        assert log.of("connections.refused") == []

    run(scene())


@pytest.mark.parametrize("run", ["uvloop"], indirect=True)
def test_who_reads_the_last_answer_slowly_is_waited_for_too(
    monkeypatch: pytest.MonkeyPatch, run: Run, sides: Sides
) -> None:
    """At ten times the pace that is the least, and for longer than our patience."""
    monkeypatch.setattr(connection, "GOODBYE_SECONDS", 0.05)
    monkeypatch.setattr(writing, "PATIENCE_SECONDS", 0.5)

    async def scene() -> None:
        log, got = HeardLog(), 0
        async with opened(log, sides[0]) as place:
            place.answer = ANSWER * 4
            peer = await asyncio.to_thread(place.connect, sides[1])
            with peer:
                await asyncio.to_thread(peer.sendall, LAST)
                while got < len(place.answer):
                    piece = await asyncio.to_thread(peer.recv, 1 << 14)
                    assert piece, f"cut off after {got} of {len(place.answer)} bytes"
                    got += len(piece)
                    await asyncio.sleep(len(piece) / (20 * writing.PROGRESS))
            await until(lambda: not place.live.connections)
        assert log.of("connections.refused") == []

    run(scene())


def test_who_has_vanished_holds_up_no_stop(
    monkeypatch: pytest.MonkeyPatch, run: Run, sides: Sides
) -> None:
    """The last that TLS says to such a peer is acknowledged by nobody."""
    monkeypatch.setattr(connection, "GOODBYE_SECONDS", 0.1)
    monkeypatch.setattr(writing, "PATIENCE_SECONDS", 1.0)
    monkeypatch.setattr(connection, "untaken", lambda _: 24)

    async def scene() -> None:
        log = HeardLog()
        async with opened(log, sides[0]) as place:
            peer = await asyncio.to_thread(place.connect, sides[1])
            await asyncio.to_thread(peer.sendall, GET)
            got = 0
            while got < len(place.answer):
                piece = await asyncio.to_thread(peer.recv, 1 << 16)
                assert piece
                got += len(piece)
        peer.close()
        assert log.of("connections.refused") == []

    run(scene())


def test_what_the_kernel_may_keep_is_said_to_each_connection(run: Run) -> None:
    async def scene() -> None:
        async with opened(HeardLog(), None) as place:
            peer = await asyncio.to_thread(place.connect, None)
            with peer:
                await until(lambda: place.live.connections)
                [one] = place.live.connections
                tcp = socket.IPPROTO_TCP
                assert one.sock.getsockopt(tcp, socket.TCP_USER_TIMEOUT) == sockets.UNTAKEN_MS
                kept = one.sock.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
                assert kept <= 2 * sockets.SEND_BYTES
                assert one.sock.getsockopt(tcp, socket.TCP_NODELAY)

    run(scene())
