"""Who gets through the handshake: certificates of ours, TLS 1.3, from both sides."""

import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import pytest
import yaml

from gatepost.trust.identity import Identity, Role
from gatepost.trust.tls import TlsFiles, client_context
from infra.dev.ports import free_port
from infra.dev.services import not_ready
from main_server.ca.authority import Usage
from tests.acceptance.site import Site, Wire, accepted, eventually, post
from tests.factories import Pki, identity
from tests.hostile.hellos import (
    ALERT,
    HANDSHAKE,
    HANDSHAKE_FAILURE,
    X25519,
    first_record,
    hello,
)

SERVERS = ["proxy", "main_server"]
TLS_PORTS = [*SERVERS, "portal"]


@pytest.fixture(scope="package")
def ours(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Pki:
    """The stack's own authority, to issue what the ledger doesn't know."""
    return Pki(site.stack.place.folder / "ca", tmp_path_factory.mktemp("issued"))


@pytest.fixture(scope="session")
def strangers(tmp_path_factory: pytest.TempPathFactory) -> Pki:
    """An authority with the same names as ours."""
    return Pki(tmp_path_factory.mktemp("strangers"))


def plain_context(site: Site) -> ssl.SSLContext:
    """A caller that trusts our root, and has nothing to show."""
    return ssl.create_default_context(cafile=site.files("client_001").ca_file)


def refused(site: Site, service: str, context: ssl.SSLContext) -> bool:
    """Whether a caller gets no answer at all: with TLS 1.3 it hears of it when it reads."""
    try:
        with Wire(site.url(service), context) as wire:
            wire.send(b"GET /api/v1/whoami HTTP/1.1\r\nHost: h\r\n\r\n")
            status, _, data = wire.answer()
    except (OSError, ssl.SSLError):
        return True
    return status == 0 and data == b""


@pytest.mark.parametrize("service", SERVERS)
def test_a_certificate_of_ours_gets_an_answer(site: Site, service: str) -> None:
    assert not refused(site, service, client_context(site.files("client_001")))


@pytest.mark.parametrize("service", SERVERS)
def test_without_a_certificate_there_is_no_answer(site: Site, service: str) -> None:
    assert refused(site, service, plain_context(site))
    reason = "peer did not return a certificate"
    assert eventually(lambda: site.events(service, "tls.refused", reason=reason), "the event")


@pytest.mark.parametrize("service", SERVERS)
def test_a_certificate_of_another_authority_gets_none(
    site: Site, strangers: Pki, service: str
) -> None:
    pair = strangers.issue(identity())
    files = TlsFiles(pair.cert, pair.key, site.files("client_001").ca_file)
    assert refused(site, service, client_context(files))
    assert eventually(lambda: site.events(service, "tls.refused"), "the event")


@pytest.mark.parametrize("service", SERVERS)
def test_a_certificate_that_signed_itself_gets_none(
    site: Site, tmp_path: Path, service: str
) -> None:
    names = "subjectAltName=URI:gatepost://example.com/client/client_001"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    command += ["-nodes", "-keyout", "own.key", "-out", "own.pem", "-days", "1"]
    command += ["-subj", "/CN=client_001", "-addext", names]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    files = TlsFiles(tmp_path / "own.pem", tmp_path / "own.key", site.files("client_001").ca_file)
    assert refused(site, service, client_context(files))


@pytest.mark.parametrize("service", SERVERS)
def test_a_certificate_that_has_expired_gets_none(site: Site, ours: Pki, service: str) -> None:
    pair = ours.issue(identity(), lifetime=timedelta(seconds=-1))
    assert refused(site, service, client_context(pair.files))


@pytest.mark.parametrize("service", SERVERS)
def test_a_servers_certificate_does_not_do_for_calling(site: Site, ours: Pki, service: str) -> None:
    pair = ours.issue(identity(), Usage.SERVER)
    assert refused(site, service, client_context(pair.files))
    reason = "unsuitable certificate purpose"
    assert eventually(lambda: site.events(service, "tls.refused", reason=reason), "the event")


@pytest.mark.parametrize("service", SERVERS)
def test_the_authoritys_own_certificate_does_not_do_for_calling(site: Site, service: str) -> None:
    folder = site.stack.place.folder / "ca"
    root = folder / "root.pem"
    files = TlsFiles(folder / "intermediate.pem", folder / "intermediate.key", root)
    with Wire(site.url(service), client_context(files)) as wire:
        wire.send(b"GET /api/v1/whoami HTTP/1.1\r\nHost: h\r\n\r\n")
        assert wire.answer()[0] in (0, 403, 404)


@pytest.mark.parametrize("service", SERVERS)
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_1])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_older_versions_of_tls_are_not_spoken(
    site: Site, service: str, version: ssl.TLSVersion
) -> None:
    context = client_context(site.files("client_001"))
    context.minimum_version = context.maximum_version = version
    with pytest.raises(ssl.SSLError), Wire(site.url(service), context):
        pass


@pytest.mark.parametrize("service", TLS_PORTS)
@pytest.mark.parametrize("group", [0x0100, 0x0104])
def test_keys_are_not_exchanged_in_finite_fields(site: Site, service: str, group: int) -> None:
    """Anybody could ask for it, and what it costs would keep everybody else waiting."""
    for words in (hello([group], [group]), hello([group], [])):
        assert first_record(address(site, service), words) == (ALERT, bytes([2, HANDSHAKE_FAILURE]))
    kind, said = first_record(address(site, service), hello([group, X25519], [group]))
    assert (kind, said[-2:]) == (HANDSHAKE, X25519.to_bytes(2, "big")), "is led to a curve"


@pytest.mark.parametrize("service", TLS_PORTS)
@pytest.mark.parametrize("curve", ["X25519", "prime256v1"])
def test_keys_are_exchanged_on_curves(site: Site, service: str, curve: str) -> None:
    context = client_context(site.files("client_001"))
    context.set_ecdh_curve(curve)
    assert not refused(site, service, context)


def address(site: Site, service: str) -> tuple[str, int]:
    parts = urlsplit(site.url(service))
    assert parts.hostname
    assert parts.port
    return parts.hostname, parts.port


@pytest.mark.parametrize("service", SERVERS)
def test_plain_http_is_not_spoken(site: Site, service: str) -> None:
    parts = urlsplit(site.url(service))
    with socket.create_connection((parts.hostname, parts.port), 10) as plain:
        plain.sendall(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        assert b"HTTP" not in read_all(plain)
    assert not refused(site, service, client_context(site.files("client_001")))


def read_all(sock: socket.socket) -> bytes:
    data = b""
    try:
        while piece := sock.recv(4096):
            data += piece
    except OSError:
        pass
    return data


@pytest.mark.parametrize("service", SERVERS)
def test_no_session_can_be_resumed(site: Site, service: str) -> None:
    """A resumed session would skip every check of the certificate."""
    context = client_context(site.files("client_001"))
    with Wire(site.url(service), context) as wire:
        wire.send(b"GET /x HTTP/1.1\r\nHost: h\r\n\r\n")
        assert wire.answer()[0] > 0  # a ticket would have come before the answer
        session = wire.socket.session
        assert session is None or not session.has_ticket
        assert not wire.socket.session_reused


@pytest.mark.parametrize("service", SERVERS)
def test_half_a_handshake_holds_nobody_up(site: Site, service: str) -> None:
    parts = urlsplit(site.url(service))
    held = [socket.create_connection((parts.hostname, parts.port), 10) for _ in range(50)]
    try:
        for number, sock in enumerate(held):
            sock.sendall(b"\x16\x03\x01\x02\x00\x01\x00"[: number % 8])
        assert not refused(site, service, client_context(site.files("client_001")))
    finally:
        for sock in held:
            sock.close()


@pytest.mark.parametrize("service", SERVERS)
def test_garbage_instead_of_a_handshake_harms_nobody(site: Site, service: str) -> None:
    parts = urlsplit(site.url(service))
    before = site.pids(service)
    for garbage in (b"\0" * 1000, b"\x16\x03\x01\xff\xff" + b"A" * 70_000, b"SSH-2.0-x\r\n", b""):
        with socket.create_connection((parts.hostname, parts.port), 10) as sock:
            sock.sendall(garbage)
            sock.shutdown(socket.SHUT_WR)
            assert b"HTTP" not in read_all(sock)
    assert not refused(site, service, client_context(site.files("client_001")))
    assert site.pids(service) == before


def test_the_pki_port_gives_what_anybody_may_have_and_nothing_else(site: Site) -> None:
    with httpx.Client(base_url=site.url("pki"), trust_env=False) as anybody:
        for name in ("root", "intermediate"):
            answer = anybody.get(f"/ca/{name}.pem")
            stored = (site.stack.place.folder / "ca" / f"{name}.pem").read_bytes()
            assert (answer.status_code, answer.content) == (200, stored)
            assert b"PRIVATE" not in answer.content
            assert anybody.head(f"/ca/{name}.pem").status_code == 200
        for path in (
            "/",
            "/ca",
            "/ca/",
            "/ca/root.key",
            "/ca/intermediate.key",
            "/ca/../secrets/master.key",
            "/ca/%2e%2e/secrets/master.key",
            "/ca/root.pem/",
            "/ca/root.pem%00",
            "/internal/bundle",
            "/api/v1/messages",
        ):
            answer = anybody.get(path)
            assert answer.status_code == 404, path
            assert answer.headers["content-type"] == "application/problem+json"
        answer = anybody.post("/ca/root.pem")
        assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")


class Impostor:
    """A server with a certificate of our CA that isn't the main server's; it notes what it gets."""

    def __init__(self, files: TlsFiles) -> None:
        self.handshakes = 0
        self.received = b""
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(files.cert_file, files.key_file)
        self._sock = socket.create_server(("127.0.0.1", 0))
        self.port = self._sock.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                plain, _ = self._sock.accept()
            except OSError:
                return
            self.handshakes += 1
            try:
                with self._context.wrap_socket(plain, server_side=True) as secure:
                    secure.settimeout(5)
                    self.received += secure.recv(4096)
            except OSError:
                plain.close()

    def close(self) -> None:
        self._sock.shutdown(socket.SHUT_RDWR)
        self._sock.close()
        self._thread.join(10)


@pytest.fixture
def impostor(site: Site, ours: Pki, request: pytest.FixtureRequest) -> Iterator[Impostor]:
    make: Callable[[Site, Pki], TlsFiles] = request.param
    impostor = Impostor(make(site, ours))
    yield impostor
    impostor.close()


def _proxy(site: Site, ours: Pki) -> TlsFiles:
    return site.files("proxy")  # good for being called, but as another


def _proxy_client(site: Site, ours: Pki) -> TlsFiles:
    return site.files("proxy-client")


def _client(site: Site, ours: Pki) -> TlsFiles:
    return site.files("client_001")


def _main_for_calling(site: Site, ours: Pki) -> TlsFiles:
    return ours.issue(Identity("gatepost", Role.MAIN, "main-1"), Usage.CLIENT).files


def _main_of_a_partner(site: Site, ours: Pki) -> TlsFiles:
    return ours.issue(Identity("example.com", Role.MAIN, "main-1"), Usage.SERVER).files


@pytest.mark.parametrize(
    ("service", "impostor"),
    [
        ("worker", _proxy),
        ("worker", _proxy_client),
        ("worker", _main_for_calling),
        ("worker", _main_of_a_partner),
        ("proxy", _proxy),
        ("proxy", _client),
    ],
    indirect=["impostor"],
)
def test_whoever_is_not_the_main_server_is_told_nothing(
    site: Site, tmp_path: Path, impostor: Impostor, service: str
) -> None:
    ops = free_port()
    tree: dict[str, Any] = yaml.safe_load((site.stack.place.config / f"{service}.yaml").read_text())
    tree["main_server"]["url"] = f"https://localhost:{impostor.port}"
    tree["ops"]["port"] = ops
    if service == "proxy":
        tree["server"] = {"host": "127.0.0.1", "port": free_port(), "workers": 1}
        tree["cache"] = {"folder": str(tmp_path / "cache")}
    else:
        tree["worker"]["concurrency"] = 1
    config = tmp_path / f"{service}.yaml"
    config.write_text(yaml.safe_dump(tree))
    command = [sys.executable, "-m", service, "--config", str(config)]
    with (tmp_path / "log").open("wb") as log, subprocess.Popen(command, stdout=log) as process:
        try:
            eventually(lambda: impostor.handshakes >= 2, "two calls")
            assert not_ready(ops) is not None
        finally:
            process.terminate()
            process.wait(30)
    assert impostor.received == b"", "it heard something"


def test_the_right_main_server_is_talked_to(site: Site) -> None:
    """The test of the test above: these calls do get through."""
    with site.calling() as client:
        site.wait_delivered(accepted(post(client)))


def test_a_new_certificate_of_a_client_sees_what_the_old_one_sent(site: Site) -> None:
    """Identity outlives certificates (I10)."""
    holder = identity(name=f"renewed-{uuid4().hex[:8]}")
    old, new = site.issue(holder), site.issue(holder)
    with site.calling(old.files) as before, site.calling(new.files) as after:
        message_id = accepted(post(before))
        for client in (before, after):
            answer = client.get(f"/api/v1/messages/{message_id}")
            assert answer.status_code == 200
            assert client.get("/api/v1/whoami").json()["client_id"] == holder.client_id
