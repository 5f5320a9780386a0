"""The PKI port: plain HTTP, signed objects only. Behind mutual TLS they would be circular.

GET  /ca.pem                   what to trust now: root and intermediates
GET  /ca/root.pem, /ca/intermediate.pem, /ca/<kid>.cer
GET  /crl, /crl.pem, /crl/<kid>.crl
POST /ocsp, GET /ocsp/<base64>
POST /enrol

One address may ask so often, and what needs the ledger takes turns (`main_server.api.peers`).
"""

import base64
import binascii
import json
import re
from collections.abc import Callable, Sequence
from typing import Concatenate, ParamSpec, TypeVar

import msgspec
from cryptography.hazmat.primitives.serialization import Encoding
from sqlalchemy import Engine

from gatepost.addresses import FORWARDED, Network, behind
from gatepost.decoding import decode_said
from gatepost.errors import Malformed, MethodNotAllowed, NotFound
from gatepost.service.asgi import Receive, Scope, Send, read_body, respond
from gatepost.service.requests import context_of
from main_server.api.peers import Peers, Turns
from main_server.ca import ocsp
from main_server.ca.crl_file import to_pem
from main_server.ca.enrolment import Enrolment, enrol
from main_server.ca.founding import read_pins
from main_server.ca.online import OnlineCa
from main_server.ca.revoked.repository import read_crl, read_revocations
from main_server.store.database import RequestLedger, transact

P = ParamSpec("P")
T = TypeVar("T")

_PEM, _CER = b"application/x-pem-file", b"application/pkix-cert"
_CRL, _OCSP = b"application/pkix-crl", b"application/ocsp-response"
_READ = ("GET", "HEAD")
ENROLMENT_BYTES = 32 * 1024
REQUESTS, ENROLMENTS = (100.0, 500), (1.0, 20)
"""Limits of one address: how many a second, and how many at once after a silence."""
AT_ONCE, WAITING = 4, 100
_KID = re.compile(r"\A[0-9a-f]{40}\Z")


class EnrolmentBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """In base64: the token's public key, the request (DER), and its signature by the token."""

    public_key: str
    signature: str
    csr: str


class PkiApp:
    def __init__(self, ca: OnlineCa, proxies: Sequence[Network] = ()) -> None:
        self._ca = ca
        self._proxies = proxies
        self._ledger = RequestLedger(ca.ledger)
        self._asking, self._enrolling = Peers(*REQUESTS), Peers(*ENROLMENTS)
        self._turns = Turns(AT_ONCE, WAITING)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        area = path.partition("/")[2].partition("/")[0]
        self._asking.take(self._who_asks(scope))
        if area == "ocsp":
            await self._ocsp(scope, receive, send, path.removeprefix("/ocsp").removeprefix("/"))
            return
        if path == "/enrol":
            await self._enrol(scope, receive, send)
            return
        found = await self._find(path)
        if found is None:
            raise NotFound()
        # A key's identifier in a route would be one more in each metric with each new key.
        _known_as(scope, f"/{area}" if area in ("ca", "crl") else path, *_READ)
        await respond(send, 200, found[0], content_type=found[1])

    def _who_asks(self, scope: Scope) -> str:
        name = FORWARDED.encode()
        told = [value.decode("latin-1") for key, value in scope["headers"] if key == name]
        return behind(scope["client"][0], told, self._proxies)

    async def _find(self, path: str) -> tuple[bytes, bytes] | None:
        """Return what is at this path, and its type; None if nothing is."""
        if path == "/ca.pem":
            return read_pins(self._ca.settings.folder), _PEM
        if path in ("/ca/root.pem", "/ca/intermediate.pem"):
            return (self._ca.settings.folder / path.split("/")[-1]).read_bytes(), _PEM
        if path.startswith("/ca/") and path.endswith(".cer"):
            authority = self._ca.authorities.find(path[len("/ca/") : -len(".cer")])
            return (authority.certificate.public_bytes(Encoding.DER), _CER) if authority else None
        return await self._find_list(path)

    async def _find_list(self, path: str) -> tuple[bytes, bytes] | None:
        signing = self._ca.authorities.signing.kid
        if path == "/crl.pem":
            return to_pem(await self._run(transact, read_revocations)), _PEM
        kid = signing if path == "/crl" else path.removeprefix("/crl/").removesuffix(".crl")
        if path != "/crl" and (path != f"/crl/{kid}.crl" or not _KID.match(kid)):
            return None
        crl = await self._run(transact, lambda c: read_crl(c, kid))
        return (crl.der, _CRL) if crl else None

    async def _enrol(self, scope: Scope, receive: Receive, send: Send) -> None:
        _known_as(scope, "/enrol", "POST")
        self._enrolling.take(self._who_asks(scope))
        ca = self._ca
        asked = _read_enrolment(await read_body(receive, ENROLMENT_BYTES))
        made = await self._run(enrol, ca.authorities, asked, ca.now())
        context_of(scope).event = "certificate.issued"
        context_of(scope).fields["serial"] = made.serial
        answer = {
            "cert": made.chain_pem.decode(),
            "ca": read_pins(ca.settings.folder).decode(),
            "gateway": ca.settings.gateway_url,
        }
        await respond(send, 201, json.dumps(answer).encode())

    async def _ocsp(self, scope: Scope, receive: Receive, send: Send, said: str) -> None:
        _known_as(scope, "/ocsp", "GET" if said else "POST")
        question = _decode(said) if said else await read_body(receive, ocsp.MAX_BYTES)
        ca = self._ca
        response = await self._run(ocsp.answer, ca.authorities, ca.responders, question, ca.now())
        await respond(send, 200, response, content_type=_OCSP)

    async def _run(
        self, work: Callable[Concatenate[Engine, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run work at the ledger, when it is this request's turn."""
        async with self._turns.one():
            return await self._ledger.run(work, *args, **kwargs)


def _read_enrolment(body: bytes) -> Enrolment:
    try:
        said = decode_said(body, EnrolmentBody)
        texts = (said.public_key, said.signature, said.csr)
        key, signature, csr = (base64.b64decode(text, validate=True) for text in texts)
    except (msgspec.MsgspecError, ValueError):
        raise Malformed("It is not what `gatepost enrol` sends.") from None
    return Enrolment(key, signature, csr)


def _known_as(scope: Scope, route: str, *methods: str) -> None:
    context_of(scope).route = route
    if scope["method"] not in methods:
        raise MethodNotAllowed(", ".join(methods))


def _decode(said: str) -> bytes:
    """Decode a question; nonsense becomes one that can't be read, and is answered as that."""
    try:
        return base64.b64decode(said, validate=True)[: ocsp.MAX_BYTES]
    except (binascii.Error, ValueError):
        return b""
