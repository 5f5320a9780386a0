"""Who is taken, who is sent away before his handshake, and who must go for another."""

import asyncio
import errno
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from gatepost.service import acceptor, crowd, http
from gatepost.service.asgi import Receive, Scope, Send, respond
from gatepost.service.crowd import Crowd
from gatepost.service.live import Live
from gatepost.service.requests import RequestMetrics, Requests
from gatepost.service.serving import serve
from gatepost.trust.identity import Role
from gatepost.trust.tls import client_context, server_context
from main_server.ca.authority import Usage
from tests.factories import Pair, Pki, identity
from tests.heard import HeardLog, until
from tests.unit.service.conftest import Peer

ASK = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n"


class Place:
    """A port of ours, with bounds that a test can reach."""

    def __init__(self, listener: socket.socket, server: Pair) -> None:
        self.log = HeardLog()
        self.live = Live(self.log)
        self.live.crowd = Crowd(self.live.turned_away, of_a_process=6, of_an_address=4)
        self.listener = listener
        self.port: int = listener.getsockname()[1]
        self.tls = server_context(server.files, self.live.turned_away.handshake)
        self.release = asyncio.Event()
        self.release.set()

    async def app(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        await self.release.wait()
        await respond(send, 200, b"{}")

    @asynccontextmanager
    async def plain(self) -> AsyncIterator[Peer]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            yield Peer(reader, writer)
        finally:
            writer.transport.abort()

    @asynccontextmanager
    async def secure(self, context: ssl.SSLContext) -> AsyncIterator[Peer]:
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", self.port, ssl=context, server_hostname="localhost"
        )
        try:
            yield Peer(reader, writer)
        finally:
            writer.transport.abort()

    async def is_closed(self) -> bool:
        """Whether who comes now is sent away."""
        try:
            async with self.plain() as peer:
                return await peer.ended() == b""
        except ConnectionError:
            return True

    def bounds(self) -> list[str]:
        return [one["bound"] for one in self.log.of("connections.refused")]


numbers = iter(range(1_000))


@asynccontextmanager
async def opened(
    pki: Pki, *, secure: bool = True, kind: type[socket.socket] = socket.socket
) -> AsyncIterator[Place]:
    listener, stop = kind(), asyncio.Event()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    listener.setblocking(False)
    main = pki.issue(identity(Role.MAIN, "gatepost", "main-1"), Usage.SERVER)
    place = Place(listener, main)
    app = Requests(place.app, place.log, RequestMetrics(f"acceptor_{next(numbers)}"))
    tls = place.tls if secure else None
    task = asyncio.create_task(serve(app, listener, tls, stop, place.live))
    try:
        yield place
    finally:
        place.release.set()
        stop.set()
        async with asyncio.timeout(20):
            await task
    assert len(place.live.crowd) == 0, "who has gone is not counted"


async def status(peer: Peer) -> int:
    peer.send(ASK)
    return (await peer.answer()).status


async def test_half_handshakes_keep_nobody_out(pki: Pki) -> None:
    """A balancer's address is one for all: who only holds a connection there has to go."""
    caller = client_context(pki.issue(identity()).files)
    async with opened(pki) as place, AsyncExitStack() as stack:
        silent = [await stack.enter_async_context(place.plain()) for _ in range(4)]
        await until(lambda: len(place.live.crowd) == 4)
        for number in range(3):
            peer = await stack.enter_async_context(place.secure(caller))
            assert await status(peer) == 200, number
        assert place.bounds() == ["connections of an address"]
        assert await silent[0].ended() == b"", "the oldest of them has gone"


async def test_where_none_is_asked_for_a_certificate_those_at_rest_make_room(pki: Pki) -> None:
    async with opened(pki, secure=False) as place, AsyncExitStack() as stack:
        peers = [await stack.enter_async_context(place.plain()) for _ in range(4)]
        for peer in reversed(peers):
            assert await status(peer) == 200
        assert await status(await stack.enter_async_context(place.plain())) == 200
        assert await peers[3].ended() == b"", "it was the first to rest"
        assert [await status(peer) for peer in peers[:3]] == [200] * 3


async def test_an_address_that_has_all_at_work_is_hung_up_on(pki: Pki) -> None:
    async with opened(pki, secure=False) as place, AsyncExitStack() as stack:
        place.release.clear()
        peers = [await stack.enter_async_context(place.plain()) for _ in range(4)]
        for peer in peers:
            peer.send(ASK)
        await until(lambda: sum(not one.at_rest for one in place.live.connections) == 4)
        assert await place.is_closed()
        place.release.set()
        assert [(await peer.answer()).status for peer in peers] == [200] * 4


async def test_one_too_many_of_a_certificate_is_told_so(
    pki: Pki, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "OF_A_CLIENT", 2)
    caller = client_context(pki.issue(identity()).files)
    another = client_context(pki.issue(identity()).files)
    async with opened(pki) as place, AsyncExitStack() as stack:
        peers = [await stack.enter_async_context(place.secure(caller)) for _ in range(2)]
        assert [await status(peer) for peer in peers] == [200, 200]
        async with place.secure(caller) as third:
            third.send(ASK)
            answer = await third.answer()
            assert (answer.status, answer.headers["connection"]) == (429, "close")
            assert b"too-much-at-once" in answer.body
        assert place.bounds() == ["connections of a certificate"]
        assert place.log.of("request.served")[-1]["status"] == 429
        async with place.secure(another) as other:
            assert await status(other) == 200
        await until(lambda: len(place.live.crowd) == 2)
        peers[0].abort()
        await until(lambda: len(place.live.crowd) == 1)
        async with place.secure(caller) as again:
            assert await status(again) == 200


async def test_one_too_many_that_says_nothing_is_not_kept(
    pki: Pki, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "OF_A_CLIENT", 0)
    monkeypatch.setattr(http, "REFUSED_SECONDS", 0.1)
    caller = client_context(pki.issue(identity()).files)
    async with opened(pki) as place, place.secure(caller) as peer:
        assert await peer.ended() == b""


async def test_services_have_room_for_all_their_processes(
    pki: Pki, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "OF_A_CLIENT", 0)
    proxy = client_context(pki.issue(identity(Role.PROXY, "gatepost", "proxy-1")).files)
    async with opened(pki) as place, place.secure(proxy) as peer:
        assert await status(peer) == 200


async def test_a_process_takes_no_more_than_it_may(pki: Pki) -> None:
    callers = [client_context(pki.issue(identity()).files) for _ in range(3)]
    async with opened(pki) as place, AsyncExitStack() as stack:
        for caller in callers * 2:
            await stack.enter_async_context(place.secure(caller))
        assert await place.is_closed()
        assert place.bounds() == ["connections of a process"]


async def test_a_handshake_that_never_ends_is_ended(
    pki: Pki, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acceptor, "HANDSHAKE_SECONDS", 0.2)
    async with opened(pki) as place, place.plain() as silent:
        assert await silent.ended() == b""


async def test_a_handshake_that_fails_is_counted_and_forgotten(pki: Pki) -> None:
    async with opened(pki) as place:
        for words in (b"hello\r\n\r\n", b"\x16\x03\x01\xff\xff" + bytes(200)):
            async with place.plain() as peer:
                peer.send(words)
                await peer.ended()
        await until(lambda: len(place.live.crowd) == 0)
        assert place.log.of("tls.refused")


class Scarce(socket.socket):
    """A listener of a process that has no more files, for three times."""

    tries = 0

    def accept(self) -> Any:
        Scarce.tries += 1
        if Scarce.tries <= 3:
            raise OSError(errno.EMFILE, "Too many open files")
        return super().accept()


async def test_without_files_nobody_is_taken_until_there_are_some(
    pki: Pki, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acceptor, "NO_FILES_SECONDS", 0.05)
    async with opened(pki, secure=False, kind=Scarce) as place, place.plain() as peer:
        assert await status(peer) == 200
    assert 4 <= Scarce.tries < 20, "it doesn't try again and again"


def test_the_bounds_leave_room_for_what_ours_need() -> None:
    """64 processes of a proxy, each with 17 connections to one process of a main server."""
    assert 64 * 17 < crowd.OF_A_SERVICE < crowd.OF_A_PROCESS
