"""A gateway for tests: TLS 1.3 with client certificates on a real socket, saying what it is told.

It speaks the proxy's HTTP contract as far as a client sees it, and remembers every request.
"""

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID


@dataclass(frozen=True)
class Pair:
    cert: Path
    key: Path


class Authority:
    """A CA of the test's own, with as little in its certificates as TLS needs."""

    def __init__(self, folder: Path, name: str = "test CA") -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name(name)
        certificate = (
            _builder(self._name, self._name, self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=1), critical=True)
            .sign(self._key, SHA256())
        )
        self.ca = folder / "ca.pem"
        self.ca.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def issue(self, name: str, *, server: bool = False, days: int = 1) -> Pair:
        key = ec.generate_private_key(ec.SECP256R1())
        usage = ExtendedKeyUsageOID.SERVER_AUTH if server else ExtendedKeyUsageOID.CLIENT_AUTH
        alternative: list[x509.GeneralName] = [x509.UniformResourceIdentifier(f"test:{name}")]
        if server:
            alternative = [x509.IPAddress(ip_address("127.0.0.1"))]
        certificate = (
            _builder(_name(name), self._name, key.public_key(), days)
            .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
            .add_extension(x509.SubjectAlternativeName(alternative), critical=False)
            .sign(self._key, SHA256())
        )
        pair = Pair(self.folder / f"{name}.pem", self.folder / f"{name}.key")
        pair.cert.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        pair.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return pair


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _builder(
    subject: x509.Name, issuer: x509.Name, public_key: ec.EllipticCurvePublicKey, days: int = 1
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - (timedelta(hours=1) if days > 0 else timedelta(days=1 - days)))
        .not_valid_after(now + timedelta(days=days))
    )


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    peer: str
    """The common name of its certificate."""


@dataclass(frozen=True)
class Told:
    """What to answer. `hang_up`: read the request and close without a word."""

    status: int = 200
    document: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    media_type: str | None = None
    hang_up: bool = False


MESSAGE_ID = "019a6f00-0000-7000-8000-000000000001"
QUEUED_AT = "2026-11-18T10:00:00.100Z"
ACCEPTED = Told(
    202,
    {
        "message_id": MESSAGE_ID,
        "status": "queued",
        "queued_at": QUEUED_AT,
        "durability": "full",
    },
)
WHOAMI = Told(
    200,
    {
        "client_id": "client_001",
        "domain": "example.com",
        "role": "client",
        "name": "client_001",
        "certificate": {
            "fingerprint": "ab" * 32,
            "serial": "0c" * 16,
            "not_before": "2026-11-01T00:00:00.000Z",
            "not_after": "2027-11-01T00:00:00.000Z",
        },
        "limits": {"rate_per_second": 100, "burst": 200},
        "formats": {"max_body_characters": 1000},
    },
)


def told_status(status: str, attempts: int = 0, **more: str) -> Told:
    delivered = "2026-11-18T10:00:00.136Z" if status == "delivered" else None
    return Told(
        200,
        {
            "message_id": MESSAGE_ID,
            "status": status,
            "created_at": QUEUED_AT,
            "queued_at": QUEUED_AT,
            "delivered_at": delivered,
            "attempt_count": attempts,
            **more,
        },
    )


def told_problem(status: int, slug: str, detail: str = "Some words.", **more: Any) -> Told:
    headers = {"Retry-After": str(more.pop("retry_after"))} if "retry_after" in more else {}
    document = {
        "type": f"urn:gatepost:problem:{slug}",
        "title": slug.replace("-", " ").capitalize(),
        "status": status,
        "detail": detail,
        "request_id": "the-request",
        **more,
    }
    return Told(status, document, headers, "application/problem+json")


def in_batches(single: Callable[[Asked], Told]) -> Callable[[Asked], Told]:
    """A batch is answered with what each of its items would have been."""

    def answer(asked: Asked) -> Told:
        if not asked.path.endswith("/batch"):
            return single(asked)
        told = [single(replace(asked, body=line)) for line in asked.body.split(b"\n")]
        items = [{"index": number, **_item(one)} for number, one in enumerate(told)]
        headers = next((one.headers for one in told if one.headers), {})
        return Told(200, {"items": items}, headers)

    return answer


def _item(told: Told) -> dict[str, Any]:
    if told.status != 202:
        wait = {"retry_after": int(told.headers.get("Retry-After", 1))}
        return {"status": told.status, "problem": told.document | wait}
    return {**told.document, "status": 202}


class Gateway:
    """A gateway. `answer` decides; `script(...)` gives answers in turn, the last for ever."""

    def __init__(self, authority: Authority, server: Pair) -> None:
        self.authority = authority
        self.asked: list[Asked] = []
        self.answer: Callable[[Asked], Told] = lambda _: ACCEPTED
        self._lock = threading.Lock()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.load_cert_chain(server.cert, server.key)
        context.load_verify_locations(authority.ca)
        context.verify_mode = ssl.CERT_REQUIRED
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self._server.context = context
        self.url = f"https://127.0.0.1:{self._server.server_address[1]}"

    def script(self, *answers: Told) -> None:
        left = list(answers)

        def answer(_: Asked) -> Told:
            return left.pop(0) if len(left) > 1 else left[0]

        self.answer = answer

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        gateway = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _any(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                subject = dict(one[0] for one in self.connection.getpeercert()["subject"])
                peer = subject["commonName"]
                asked = Asked(self.command, self.path, dict(self.headers), body, peer)
                with gateway._lock:
                    gateway.asked.append(asked)
                    told = gateway.answer(asked)
                self.close_connection = told.hang_up
                if not told.hang_up:
                    self._tell(told)

            def _tell(self, told: Told) -> None:
                content = (
                    told.document
                    if isinstance(told.document, bytes)
                    else json.dumps(told.document).encode()
                )
                self.send_response(told.status)
                self.send_header("Content-Type", told.media_type or "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.send_header("X-Request-Id", self.headers.get("X-Request-Id", ""))
                for name, value in told.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = _any  # noqa: N815 (the base class's names)

            def log_message(self, *_: Any) -> None:
                pass

        return Handler

    @contextmanager
    def running(self) -> Iterator["Gateway"]:
        thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            thread.join()
            self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    context: ssl.SSLContext

    def finish_request(self, request: Any, client_address: Any) -> None:
        """The handshake belongs to the connection's own thread; a failed one just ends it."""
        try:
            with self.context.wrap_socket(request, server_side=True) as secured:
                super().finish_request(secured, client_address)
        except OSError:
            pass
