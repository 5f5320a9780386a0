"""Certificates that are replaced on disk: taken up whole, without an end to what is under way."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from gatepost.clock import Clock
from gatepost.errors import ConfigurationError
from gatepost.service.asgi import respond
from gatepost.service.live import Live
from gatepost.service.replaced import Replaced
from gatepost.service.serving import serve
from gatepost.trust.identity import Certificate, Role
from gatepost.trust.tls import TlsFiles, client_context
from main_server.ca.authority import Usage
from tests.factories import Pair, Pki, identity
from tests.heard import HeardLog
from tests.lists import Issuer
from tests.unit.service.conftest import PATIENCE, Peer

ASK = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n"


@pytest.fixture
def log() -> HeardLog:
    return HeardLog()


def lay(folder: Path, pair: Pair, name: str = "me") -> TlsFiles:
    """A copy that a test may write over."""
    files = TlsFiles(folder / f"{name}.pem", folder / f"{name}.key", folder / "ca.pem")
    for place, source in zip(files.all, pair.files.all, strict=True):
        place.write_bytes(source.read_bytes())
    return files


def copy(pair: Pair, files: TlsFiles, part: str) -> None:
    source: Path = getattr(pair, part)
    place: Path = getattr(files, f"{part}_file")
    place.write_bytes(source.read_bytes())


def main_server(pki: Pki) -> Pair:
    return pki.issue(identity(Role.MAIN, "gatepost", "main-1"), Usage.SERVER)


async def answer(_scope: Any, _receive: Any, send: Any) -> None:
    await respond(send, 200, b"{}")


@asynccontextmanager
async def serving(files: TlsFiles, log: HeardLog, replaced: Replaced) -> AsyncIterator[int]:
    """A port that shows what these files hold."""
    sock = socket.create_server(("127.0.0.1", 0))
    sock.setblocking(False)
    live, stop = Live(log), asyncio.Event()
    context = replaced.open_port(files, live)
    task = asyncio.create_task(serve(answer, sock, context, stop, live))
    try:
        yield sock.getsockname()[1]
    finally:
        stop.set()
        async with asyncio.timeout(PATIENCE):
            await task


@asynccontextmanager
async def connected(port: int, context: ssl.SSLContext) -> AsyncIterator[tuple[Peer, str]]:
    """A connection, and the serial number that it was shown."""
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", port, ssl=context, server_hostname="localhost"
    )
    der = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    try:
        yield Peer(reader, writer), Certificate(der).serial
    finally:
        writer.transport.abort()


async def test_a_port_shows_the_new_certificate_and_lets_go_of_who_saw_the_old_one(
    pki: Pki, log: HeardLog, tmp_path: Path
) -> None:
    before, after = main_server(pki), main_server(pki)
    files, replaced = lay(tmp_path, before), Replaced(log)
    caller = client_context(pki.issue(identity()).files)
    async with serving(files, log, replaced) as port, connected(port, caller) as (old, shown):
        assert shown == before.certificate.serial
        old.send(ASK)
        assert (await old.answer()).headers.get("connection") != "close"
        replaced.look()
        assert log.events() == [], "nothing was replaced"
        lay(tmp_path, after)
        replaced.look()
        async with connected(port, caller) as (new, fresh):
            assert fresh == after.certificate.serial
            old.send(ASK)
            last = await old.answer()
            assert (last.status, last.headers["connection"]) == (200, "close")
            assert await old.ended() == b""
            for _ in range(2):
                new.send(ASK)
                assert (await new.answer()).headers.get("connection") != "close"
    assert [(one["level"], one["problem"]) for one in log.heard] == [("info", None)]


async def test_a_handshake_under_way_then_is_for_one_answer(
    pki: Pki, log: HeardLog, tmp_path: Path
) -> None:
    before, after = main_server(pki), main_server(pki)
    files, replaced = lay(tmp_path, before), Replaced(log)
    caller = client_context(pki.issue(identity()).files)
    async with serving(files, log, replaced) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        heard, said = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = caller.wrap_bio(heard, said, server_hostname="localhost")
        while True:
            with suppress(ssl.SSLWantReadError):
                tls.do_handshake()
                break
            writer.write(said.read())
            heard.write(await reader.read(1 << 16))
        lay(tmp_path, after)
        replaced.look()
        tls.write(ASK)
        writer.write(said.read())
        async with asyncio.timeout(PATIENCE):
            while data := await reader.read(1 << 16):
                heard.write(data)
        answered = tls.read(1 << 16)
        writer.close()
    assert b"connection: close" in answered.lower()


async def test_a_root_that_is_taken_away_is_forgotten(
    pki: Pki, log: HeardLog, tmp_path: Path
) -> None:
    files, replaced, other = lay(tmp_path, main_server(pki)), Replaced(log), Pki(tmp_path / "other")
    ours, root = client_context(pki.issue(identity()).files), files.ca_file.read_bytes()
    theirs = client_context(TlsFiles(*other.issue(identity()).files.all[:2], files.ca_file))
    async with serving(files, log, replaced) as port:
        for trusted, status in ((root + other.ca.read_bytes(), 200), (root, None)):
            files.ca_file.write_bytes(trusted)
            replaced.look()
            assert await asked(port, ours) == 200
            assert await asked(port, theirs) == status
    assert log.of("tls.refused")[-1]["reason"] == "unable to get local issuer certificate"


async def asked(port: int, context: ssl.SSLContext) -> int | None:
    """The status of an answer; None if the connection was refused."""
    try:
        async with connected(port, context) as (peer, _):
            peer.send(ASK)
            return (await peer.answer()).status
    except OSError:
        return None


@pytest.mark.parametrize("order", [("key", "cert"), ("cert", "key")])
async def test_half_a_pair_changes_nothing_and_is_said_once(
    pki: Pki, log: HeardLog, tmp_path: Path, order: tuple[str, str]
) -> None:
    before, after = main_server(pki), main_server(pki)
    files, replaced = lay(tmp_path, before), Replaced(log)
    caller = client_context(pki.issue(identity()).files)
    async with serving(files, log, replaced) as port:
        copy(after, files, order[0])
        for _ in range(3):
            replaced.look()
        async with connected(port, caller) as (_, shown):
            assert shown == before.certificate.serial
        [said] = log.of("files.replaced")
        assert said["level"] == "warning"
        assert "can't be used" in said["problem"]
        copy(after, files, order[1])
        replaced.look()
        async with connected(port, caller) as (_, shown):
            assert shown == after.certificate.serial
        assert log.of("files.replaced")[1:] == [said | {"level": "info", "problem": None}]


def test_a_view_trusts_whom_the_ca_file_pins_now(issuer: Issuer, log: HeardLog) -> None:
    replaced, second = Replaced(log), Issuer(issuer.pins.parent / "second")
    view = replaced.open_view(issuer.pins, Clock())
    stranger = second.pki.issue(identity()).certificate
    assert view.refusal(stranger) == "its issuer is not in our ca_file"
    issuer.pins.write_bytes(issuer.pins.read_bytes() + second.pins.read_bytes())
    replaced.look()
    assert view.refusal(stranger) is None
    issuer.pins.unlink()
    replaced.look()
    assert view.refusal(stranger) is None, "what can't be read changes nothing"


async def test_what_can_not_be_taken_up_is_tried_again(log: HeardLog, tmp_path: Path) -> None:
    tried: list[bool] = []
    stop = asyncio.Event()

    def take_up() -> None:
        tried.append(True)
        if len(tried) == 1:
            raise ConfigurationError("not yet")
        stop.set()

    file = tmp_path / "file"
    replaced = Replaced(log)
    replaced.watch([file], take_up)
    file.write_text("new")
    async with asyncio.timeout(PATIENCE):
        await replaced.loop(stop)
    assert len(tried) == 2
    assert [one["problem"] for one in log.heard] == ["not yet", None]
