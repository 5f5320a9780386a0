"""Calls to a main server that is revoked, before, between and during them."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from gatepost.clock import Clock
from gatepost.config.settings import MainServer
from gatepost.service.calls import main_server_client
from gatepost.service.replaced import Replaced
from gatepost.trust.identity import Certificate, Role
from gatepost.trust.revoked import Revoked, open_view
from gatepost.trust.tls import TlsFiles, server_context
from main_server.ca.authority import Usage
from tests.factories import Pair, identity
from tests.heard import HeardLog, until
from tests.lists import Issuer
from tests.wire import Fault, Wire, pass_on

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"


class Server:
    """Answers every request, unless it is told to hold its answers back."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._context = context
        self.connections = 0
        self.callers: list[str] = []
        self.asked = 0
        self.answers = True
        self.held: list[asyncio.StreamWriter] = []

    async def start(self) -> int:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._context)
        return int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        der = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        self.callers.append(Certificate(der).serial)
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                self.asked += 1
                if self.answers:
                    writer.write(ANSWER)
                else:
                    self.held.append(writer)
        except (OSError, asyncio.IncompleteReadError):
            writer.close()


class Wired(Server):
    """Behind a wire that can be frozen, so that a handshake stays under way."""

    def __init__(self, pair: Pair, wire: Wire) -> None:
        super().__init__(server_context(pair.files, lambda _reason: None))
        self._wire = wire

    async def start(self) -> int:
        self._wire.lead_to(await super().start())
        return self._wire.port


@pytest.fixture
def main_pair(issuer: Issuer) -> Pair:
    return issuer.pki.issue(identity(Role.MAIN, "gatepost", "main-1"), Usage.SERVER)


@pytest_asyncio.fixture
async def server(main_pair: Pair) -> AsyncIterator[Server]:
    server = Server(server_context(main_pair.files, lambda _reason: None))
    yield server
    await server.stop()


def proxy(issuer: Issuer) -> Pair:
    return issuer.pki.issue(identity(Role.PROXY, "gatepost", "proxy-1"))


async def calling(
    server: Server,
    issuer: Issuer,
    view: Revoked,
    *,
    unsure: bool = False,
    pair: Pair | None = None,
    replaced: Replaced | None = None,
) -> httpx.AsyncClient:
    pair = pair or proxy(issuer)
    files = TlsFiles(pair.cert, pair.key, issuer.pins)
    url = f"https://localhost:{await server.start()}"
    settings = MainServer(
        url=url, cert_file=files.cert_file, key_file=files.key_file, ca_file=files.ca_file
    )
    return main_server_client(settings, 4, view, replaced or Replaced(HeardLog()), unsure=unsure)


def sure(view: Revoked) -> None:
    view.confirm(asyncio.get_running_loop().time())


async def test_as_long_as_nothing_is_wrong_it_is_called(
    server: Server, issuer: Issuer, view: Revoked
) -> None:
    view.learn(issuer.state())
    async with await calling(server, issuer, view) as client:
        sure(view)
        for _ in range(3):
            assert (await client.get("/")).status_code == 200
    assert server.connections == 1


async def test_who_is_not_sure_calls_nobody_but_for_asking_what_is_revoked(
    server: Server, issuer: Issuer, view: Revoked
) -> None:
    view.learn(issuer.state())
    async with await calling(server, issuer, view) as client:
        with pytest.raises(httpx.ConnectError, match="nobody has confirmed"):
            await client.get("/")
    assert server.connections == 0
    await server.stop()
    async with await calling(server, issuer, view, unsure=True) as client:
        assert (await client.get("/")).status_code == 200


async def test_one_that_was_revoked_is_not_called(
    server: Server, issuer: Issuer, view: Revoked, main_pair: Pair
) -> None:
    view.learn(issuer.state(main_pair))
    for unsure in (False, True):
        async with await calling(server, issuer, view, unsure=unsure) as client:
            sure(view)
            with pytest.raises(httpx.ConnectError, match="it was revoked"):
                await client.get("/")
        await server.stop()
    assert server.asked == 0


async def test_one_that_is_revoked_later_is_cut_off(
    server: Server, issuer: Issuer, view: Revoked, main_pair: Pair
) -> None:
    """Kept connections, and those in the middle of a call: its answer is not believed any more."""
    view.learn(issuer.state())
    async with await calling(server, issuer, view) as client:
        sure(view)
        assert (await client.get("/")).status_code == 200
        server.answers = False
        call = asyncio.create_task(client.get("/"))
        await until(lambda: server.asked == 2)
        view.learn(issuer.state(main_pair))
        sure(view)
        with pytest.raises(httpx.ReadError):
            await call
        with pytest.raises(httpx.ConnectError, match="it was revoked"):
            await client.get("/")


async def test_one_of_an_issuer_that_is_not_pinned_is_not_called(
    server: Server, issuer: Issuer, view: Revoked, tmp_path: Path
) -> None:
    """Though its chain ends at our root: so an intermediate that leaked is left behind."""
    pins = tmp_path / "root alone.pem"
    pins.write_bytes((tmp_path / "ca" / "root.pem").read_bytes())
    async with await calling(server, issuer, open_view(pins, Clock()), unsure=True) as client:
        with pytest.raises(httpx.ConnectError, match="not in our ca_file"):
            await client.get("/")
    assert view.problem


async def test_a_new_certificate_of_ours_is_shown_from_the_next_call_on(
    server: Server, issuer: Issuer, view: Revoked
) -> None:
    """What is under way is answered on the connection that it went out on."""
    mine, replaced = proxy(issuer), Replaced(HeardLog())
    before = mine.certificate.serial
    view.learn(issuer.state())
    async with await calling(server, issuer, view, pair=mine, replaced=replaced) as client:
        sure(view)
        server.answers = False
        calls = [asyncio.create_task(client.get("/")) for _ in range(2)]
        await until(lambda: len(server.held) == 2)
        server.held.pop().write(ANSWER)  # so that one connection is idle
        await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
        new = proxy(issuer)
        for file, source in ((mine.cert, new.cert), (mine.key, new.key)):
            file.write_bytes(source.read_bytes())
        replaced.look()
        server.held.pop().write(ANSWER)
        assert [(await call).status_code for call in calls] == [200, 200]
        server.answers = True
        for _ in range(3):
            assert (await client.get("/")).status_code == 200
    assert server.callers == [before, before, new.certificate.serial]


async def test_a_handshake_under_way_as_ours_is_replaced_is_for_one_call(
    main_pair: Pair, issuer: Issuer, view: Revoked
) -> None:
    """It shows the certificate before: nobody is to be left on it when it is revoked."""
    mine, replaced, heard = proxy(issuer), Replaced(HeardLog()), asyncio.Event()
    before = mine.certificate.serial
    view.learn(issuer.state())
    loop = asyncio.get_running_loop()

    def hold_the_first(_request: bytes) -> Fault:
        wire.rule = pass_on
        loop.call_soon_threadsafe(heard.set)
        return Fault.HOLD

    with Wire(0) as wire:
        server = Wired(main_pair, wire)
        async with await calling(server, issuer, view, pair=mine, replaced=replaced) as client:
            sure(view)
            wire.rule = hold_the_first
            call = asyncio.create_task(client.get("/"))
            await heard.wait()
            new = proxy(issuer)
            for file, source in ((mine.cert, new.cert), (mine.key, new.key)):
                file.write_bytes(source.read_bytes())
            replaced.look()
            wire.thaw()
            assert (await call).status_code == 200
            for _ in range(2):
                assert (await client.get("/")).status_code == 200
        await server.stop()
    assert server.callers == [before, new.certificate.serial]
