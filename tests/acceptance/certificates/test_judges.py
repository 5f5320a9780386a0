"""openssl s_client and curl as judges: they accept what we issue, and see what we revoke."""

import json
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from gatepost.trust.identity import Identity, Role
from infra.dev.ports import free_port
from main_server.ca.authority import Usage
from tests.acceptance.certificates.conftest import Make
from tests.acceptance.site import Site, eventually, submission
from tests.factories import Pair
from tests.judges import curl, find, openssl

REVOKED = "urn:gatepost:problem:revoked-certificate"
WHOAMI = "GET /api/v1/whoami HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
ANYTHING = "GET / HTTP/1.0\r\n\r\n"


def revoke(site: Site, pair: Pair) -> None:
    """As an administrator does."""
    with site.calling("admin", "main_server") as admin:
        order = {"serial": pair.certificate.serial, "reason": "keyCompromise"}
        answer = admin.post("/admin/certificates/revoke", json=order)
    assert answer.status_code == 200, answer.text


def published(site: Site, folder: Path) -> Path:
    """The list as anybody fetches it."""
    file = folder / f"{uuid4().hex}.pem"
    file.write_bytes(httpx.get(f"{site.url('pki')}/crl.pem").content)
    return file


def port_of(site: Site, service: str) -> str:
    return site.url(service).rpartition(":")[2]


def s_client(site: Site, pair: Pair, port: str, crl: Path, said: str) -> tuple[int, str]:
    """Its exit code, and all that it shows; it checks the server's name, chain and revocation."""
    root = site.stack.place.folder / "ca" / "root.pem"
    trusted = ("-CAfile", root, "-verify_hostname", "localhost", "-x509_strict")
    checks = ("-crl_check", "-CRL", crl, "-verify_return_error")
    mine = ("-cert", pair.cert, "-key", pair.key, "-cert_chain", pair.cert)
    where = ("-connect", f"127.0.0.1:{port}", "-tls1_3", "-ign_eof")
    done = openssl("s_client", *where, *trusted, *checks, *mine, stdin=said)
    return done.returncode, done.stdout + done.stderr


def post(site: Site, pair: Pair) -> tuple[int, dict[str, str]]:
    """What curl is answered. Its --crlfile wants a list of the root as well, which has none."""
    files = ("--cacert", pair.ca, "--cert", pair.cert, "--key", pair.key)
    kind = ("--header", "Content-Type: application/json", "--write-out", "\n%{http_code}")
    url, message = f"{site.url('proxy')}/api/v1/messages", json.dumps(submission())
    done = curl(*files, *kind, "--data-binary", "@-", url, stdin=message)
    assert done.returncode == 0, done.stderr
    answer, _, code = done.stdout.rpartition("\n")
    return int(code), json.loads(answer)


def listens(port: str) -> bool:
    try:
        socket.create_connection(("127.0.0.1", int(port)), 5).close()
    except OSError:
        return False
    return True


@contextmanager
def s_server(pair: Pair) -> Iterator[str]:
    """Somebody's server with a certificate of ours; the port that it listens on."""
    port = str(free_port())
    files = ("-cert", pair.cert, "-cert_chain", pair.cert, "-key", pair.key)
    line = [find("openssl"), "s_server", "-accept", f"127.0.0.1:{port}", "-www", *map(str, files)]
    server = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        eventually(lambda: listens(port), "it listens")
        yield port
    finally:
        server.kill()
        server.wait()


def test_s_client_calls_the_proxy_until_it_is_revoked(
    site: Site, known: Make, tmp_path: Path
) -> None:
    pair, crl = known(Role.CLIENT), published(site, tmp_path)
    code, said = s_client(site, pair, port_of(site, "proxy"), crl, WHOAMI)
    assert code == 0, said
    assert "Verify return code: 0 (ok)" in said
    assert "HTTP/1.1 200" in said
    revoke(site, pair)

    def refused() -> bool:
        _, said = s_client(site, pair, port_of(site, "proxy"), crl, WHOAMI)
        return "HTTP/1.1 403" in said and REVOKED in said

    eventually(refused, "it is out", 5)


def test_curl_posts_until_it_is_revoked(site: Site, known: Make) -> None:
    pair = known(Role.CLIENT)
    code, answer = post(site, pair)
    assert code == 202, answer
    site.wait_delivered(answer["message_id"])
    revoke(site, pair)
    eventually(lambda: post(site, pair)[0] == 403, "it is out", 5)
    assert post(site, pair)[1]["type"] == REVOKED


@pytest.fixture
def server(site: Site) -> Pair:
    holder = Identity("gatepost", Role.PROXY, f"judged-{uuid4().hex[:8]}")
    return site.issue(holder, Usage.SERVER)


def test_s_client_sees_a_server_that_was_revoked(
    site: Site, known: Make, server: Pair, tmp_path: Path
) -> None:
    pair = known(Role.CLIENT)
    with s_server(server) as port:
        code, said = s_client(site, pair, port, published(site, tmp_path), ANYTHING)
        assert (code, "Verify return code: 0 (ok)" in said) == (0, True), said
        revoke(site, server)
        code, said = s_client(site, pair, port, published(site, tmp_path), ANYTHING)
    assert code != 0
    assert "certificate revoked" in said
