"""The PKI port: lists and OCSP, judged by openssl; and what the CA sees to by itself."""

import asyncio
import base64
import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import ocsp

from main_server.api.pki import PkiApp
from main_server.ca.authority import utc_now
from main_server.ca.crl import REBUILT_EVERY
from main_server.ca.expiry import look_for_expiring
from main_server.ca.ocsp import answer
from main_server.ca.online import OnlineCa
from main_server.ca.revocation import renew_old_lists
from tests.factories import Pki, identity
from tests.forging import altered
from tests.integration.main_server.ca.ca_room import CaRoom
from tests.integration.main_server.ca.served import served
from tests.judges import openssl


@pytest.fixture
def pki(online: OnlineCa) -> Iterator[str]:
    with served(PkiApp(online)) as url:
        yield url


def ask_openssl(room: CaRoom, pki: str, name: str, *more: str, digest: str = "-sha1") -> str:
    issuer = ("-issuer", room.ca / "intermediate.pem", "-CAfile", room.ca / "root.pem")
    said = openssl(
        "ocsp", *issuer, digest, "-cert", room.out / f"{name}.pem", "-url", f"{pki}/ocsp", *more
    )
    assert "Response verify OK" in said.stderr + said.stdout, said
    return said.stdout


def test_the_lists_are_there_as_der_and_pem(room: CaRoom, online: OnlineCa, pki: str) -> None:
    issued = room.issue()
    room.done("cert", "revoke", "--serial", issued["serial"], "--yes")
    der = httpx.get(f"{pki}/crl")
    assert der.headers["content-type"] == "application/pkix-crl"
    file = room.file("list.der", der.content)
    trusted = ("-CAfile", room.ca / "intermediate.pem")
    checked = openssl("crl", "-inform", "DER", "-in", file, "-noout", "-text", *trusted)
    assert "verify OK" in checked.stderr
    assert issued["serial"].upper() in checked.stdout
    kid = online.authorities.signing.kid
    assert httpx.get(f"{pki}/crl/{kid}.crl").content == der.content
    assert httpx.get(f"{pki}/crl.pem").content == room.crl_file.read_bytes()


def test_what_certificates_point_to_is_there(online: OnlineCa, pki: str, room: CaRoom) -> None:
    authority = online.authorities.signing
    found = httpx.get(f"{pki}/ca/{authority.kid}.cer").content
    assert x509.load_der_x509_certificate(found) == authority.certificate
    assert httpx.get(f"{pki}/ca.pem").content == b"".join(
        (room.ca / f"{name}.pem").read_bytes() for name in ("root", "intermediate")
    )
    for path in ("/ca/root.pem", "/ca/intermediate.pem"):
        assert httpx.get(f"{pki}{path}").text.startswith("-----BEGIN CERTIFICATE")


@pytest.mark.parametrize(
    "path",
    ["/", "/ca", "/ca/root.key", "/ca/../ca/root.key", "/ca/x.cer", "/crl/x.crl", "/crl/", "/x"],
)
def test_nothing_else_is_there(pki: str, path: str) -> None:
    answer = httpx.get(f"{pki}{path}")
    assert answer.status_code == 404
    assert b"PRIVATE" not in answer.content


@pytest.mark.parametrize("path", ["/crl/é.crl", "/ca/é.cer", "//", "/crl/%00.crl"])
def test_nor_is_what_no_list_can_be_called(pki: str, path: str) -> None:
    assert httpx.get(f"{pki}{path}").status_code == 404


def test_a_path_without_a_slash_is_nowhere(pki: str) -> None:
    host, port = pki.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), 10) as sock:
        sock.sendall(b"OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert sock.recv(100).startswith(b"HTTP/1.1 404 ")


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 30_000, b'{"x": ' + b"[" * 30_000, b"", b"[]", b"1", b'{"csr": 1}', b"\xff",
        b'{"public_key": "", "signature": "", "csr": "\xc3\xa9"}',
        b'{"public_key": "", "signature": "", "csr": "\\ud800"}',
    ],
)  # fmt: skip
def test_what_is_no_enrolment_is_told_so(pki: str, body: bytes) -> None:
    assert httpx.post(f"{pki}/enrol", content=body).status_code == 400


def test_they_are_only_read(room: CaRoom, pki: str) -> None:
    room.done("crl", "publish")
    for path in ("/crl", "/ca.pem"):
        assert httpx.post(f"{pki}{path}").status_code == 405
    assert httpx.get(f"{pki}/ocsp").status_code == 405


def test_openssl_asks_about_good_held_and_revoked_ones(room: CaRoom, pki: str) -> None:
    room.issue("good")
    issued, held = room.issue("bad"), room.issue("held")
    serial = issued["serial"]
    assert ": good" in ask_openssl(room, pki, "bad")
    room.done("cert", "revoke", "--serial", serial, "--yes", "--reason", "keyCompromise")
    room.done("cert", "hold", "--serial", held["serial"], "--yes")
    said = ask_openssl(room, pki, "bad")
    assert ": revoked" in said
    assert "keyCompromise" in said
    assert "certificateHold" in ask_openssl(room, pki, "held")
    assert ": good" in ask_openssl(room, pki, "good", digest="-sha256")
    assert ": good" in ask_openssl(room, pki, "good", "-no_nonce")


def question(leaf: x509.Certificate, issuer: x509.Certificate) -> bytes:
    builder = ocsp.OCSPRequestBuilder().add_certificate(leaf, issuer, SHA1())
    return builder.build().public_bytes(Encoding.DER)


def test_questions_come_by_get_as_well(room: CaRoom, online: OnlineCa, pki: str) -> None:
    room.issue()
    leaf = x509.load_pem_x509_certificate((room.out / "client_001.pem").read_bytes())
    asked = base64.b64encode(question(leaf, online.authorities.signing.certificate)).decode()
    for path in (asked, asked.replace("/", "%2F").replace("+", "%2B")):
        answer = httpx.get(f"{pki}/ocsp/{path}")
        assert answer.headers["content-type"] == "application/ocsp-response"
        response = ocsp.load_der_ocsp_response(answer.content)
        assert response.certificate_status is ocsp.OCSPCertStatus.GOOD


def test_who_is_not_ours_is_not_answered_for(
    room: CaRoom, pki: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = Pki(tmp_path_factory.mktemp("other") / "ca")
    pair = other.issue(identity())
    chain = x509.load_pem_x509_certificates(pair.cert.read_bytes())
    answer = httpx.post(f"{pki}/ocsp", content=question(chain[0], chain[1])).content
    status = ocsp.load_der_ocsp_response(answer).response_status
    assert status is ocsp.OCSPResponseStatus.UNAUTHORIZED
    unlisted = Pki(room.ca, room.folder).issue(identity())
    chain = x509.load_pem_x509_certificates(unlisted.cert.read_bytes())
    answer = httpx.post(f"{pki}/ocsp", content=question(chain[0], chain[1])).content
    found = ocsp.load_der_ocsp_response(answer).certificate_status
    assert found is ocsp.OCSPCertStatus.UNKNOWN


@pytest.mark.parametrize("data", [b"", b"nonsense", b"0" * 4000])
def test_what_is_no_question_is_told_so(pki: str, data: bytes) -> None:
    answer = ocsp.load_der_ocsp_response(httpx.post(f"{pki}/ocsp", content=data).content)
    assert answer.response_status is ocsp.OCSPResponseStatus.MALFORMED_REQUEST
    assert httpx.post(f"{pki}/ocsp", content=b"0" * 5000).status_code == 413
    assert httpx.get(f"{pki}/ocsp/***").status_code == 200


def test_whatever_is_asked_is_answered(room: CaRoom, online: OnlineCa) -> None:
    room.issue()
    leaf = x509.load_pem_x509_certificate((room.out / "client_001.pem").read_bytes())
    issuer = online.authorities.signing.certificate
    nonce = x509.OCSPNonce(b"0" * 8)
    builder = ocsp.OCSPRequestBuilder().add_certificate(leaf, issuer, SHA1())
    asked = builder.add_extension(nonce, critical=False).build().public_bytes(Encoding.DER)
    told = [answer(room.engine, online.authorities, online.responders, one, online.now())
            for one in altered(asked)]  # fmt: skip
    statuses = {ocsp.load_der_ocsp_response(one).response_status.name for one in told}
    assert statuses == {"MALFORMED_REQUEST", "UNAUTHORIZED", "SUCCESSFUL"}


SLOWLY = 0.001
"""A second: nothing flows in while a test runs, however slow it is."""


def test_who_guesses_tokens_is_slowed_down_and_nobody_else(
    online: OnlineCa, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("main_server.api.pki.ENROLMENTS", (SLOWLY, 5))
    other = httpx.HTTPTransport(local_address="127.0.0.2")
    with (
        served(PkiApp(online)) as url,
        httpx.Client(base_url=url) as guesser,
        httpx.Client(base_url=url, transport=other) as partner,
    ):
        told = [guesser.post("/enrol", json={}) for _ in range(7)]
        assert [one.status_code for one in told] == [400] * 5 + [429] * 2
        assert int(told[-1].headers["retry-after"]) > 60
        assert guesser.get("/ca.pem").status_code == 200, "of all else it may have more"
        assert partner.post("/enrol", json={}).status_code == 400


def test_behind_a_balancer_each_is_counted_for_himself(
    online: OnlineCa, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("main_server.api.pki.ENROLMENTS", (SLOWLY, 2))
    balancer = (ip_network("127.0.0.1/32"),)
    one, other = {"x-forwarded-for": "203.0.113.9"}, {"x-forwarded-for": "198.51.100.4"}
    with served(PkiApp(online, balancer)) as url, httpx.Client(base_url=url) as client:
        told = [client.post("/enrol", json={}, headers=one).status_code for _ in range(3)]
        assert told == [400, 400, 429]
        assert client.post("/enrol", json={}, headers=other).status_code == 400
    with served(PkiApp(online)) as url, httpx.Client(base_url=url) as client:
        told = [client.post("/enrol", json={}, headers=w).status_code for w in (one, other, one)]
        assert told == [400, 400, 429], "of nobody else is that believed"


def test_who_asks_without_end_is_slowed_down(
    online: OnlineCa, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("main_server.api.pki.REQUESTS", (SLOWLY, 5))
    with served(PkiApp(online)) as url, httpx.Client(base_url=url) as flood:
        told = [flood.get(path).status_code for path in ["/ca.pem", "/nothing"] * 4]
    assert told == [200, 404, 200, 404, 200, 429, 429, 429]


def test_lists_are_signed_anew_when_they_are_an_hour_old(room: CaRoom, online: OnlineCa) -> None:
    everyone, now = online.authorities.all, datetime.now(UTC)
    first = renew_old_lists(room.engine, everyone, now)
    assert first is not None
    assert renew_old_lists(room.engine, everyone, now + REBUILT_EVERY / 2) is None
    later = now + REBUILT_EVERY + timedelta(seconds=1)
    again = renew_old_lists(room.engine, everyone, later)
    assert again is not None
    assert again > first
    assert renew_old_lists(room.engine, everyone, later) is None


def test_the_file_follows_the_ledger(room: CaRoom, online: OnlineCa) -> None:
    asyncio.run(online.keep())
    before = room.crl_file.read_bytes()
    assert room.crl_file.stat().st_mode & 0o777 == 0o644
    asyncio.run(online.keep())
    assert room.crl_file.read_bytes() == before
    issued = room.issue()
    room.done("cert", "revoke", "--serial", issued["serial"], "--yes")
    room.crl_file.unlink()
    asyncio.run(online.keep())
    assert issued["serial"].upper() in openssl("crl", "-in", room.crl_file, "-text").stdout


def test_what_expires_soon_is_said_once_at_each_stage(room: CaRoom) -> None:
    soon = room.issue("soon", "--days", "6")
    room.issue("later", "--days", "60")
    now = utc_now()

    def news(after: timedelta) -> list[int]:
        found = look_for_expiring(room.engine, now + after).news
        return [days for days, one in found if one.serial == soon["serial"]]

    assert news(timedelta()) == [7]
    assert news(timedelta(hours=1)) == []
    assert news(timedelta(days=5, hours=1)) == [1]
    assert news(timedelta(days=5, hours=2)) == []
    assert news(timedelta(days=7)) == []
    names = [one.identity.name for _, one in look_for_expiring(room.engine, now).news]
    assert "later" not in names
    assert look_for_expiring(room.engine, now + timedelta(days=53.5)).counts[7] >= 1
