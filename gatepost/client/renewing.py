"""Renews one's own certificate over mutual TLS; blocking, for both clients and the command.

A partner asks the gateway. What we run asks the main server, whose role it demands, with the
certificate by which it calls; both for that one and for the one by which it is called.
"""

import base64
import dataclasses
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import httpx
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding

from gatepost.client.calls import WHOAMI, Call
from gatepost.client.connection import FileName, settings
from gatepost.client.errors import CertificateError, Unavailable, UnexpectedAnswer
from gatepost.client.failures import TransportFailure, explain
from gatepost.client.files import Files
from gatepost.client.refusals import refusal
from gatepost.client.replacing import replace
from gatepost.client.trust import read_key
from gatepost.errors import BadIdentity
from gatepost.trust.identity import Certificate, Role
from gatepost.wire.renewal import sign_renewal

PATH = "/api/v1/certificates/renew"
TIMEOUT = 20.0
KNOWN_WITHIN, SETTLED_SECONDS, LOOK_SECONDS = 60.0, 3.0, 0.1


@dataclass(frozen=True, slots=True)
class _Where:
    """The server to ask: the path that renews, the path that answers whoever is known, the role of
    the server, its address, and the proxy to go through."""

    path: str
    known: str
    expect: Role | None = None
    gateway: str = ""
    proxy: str | None = None


_INTERNAL = "/internal/certificates/renew"
_OURS = _Where(_INTERNAL, "/internal/revocations", Role.MAIN)
_WHERE = {
    Role.CLIENT: _Where(PATH, WHOAMI),
    Role.PROXY: _OURS,
    Role.PORTAL: _OURS,
    Role.WORKER: _OURS,
    Role.ADMIN: _Where(_INTERNAL, "/admin/tokens", Role.MAIN),
}


def renew(
    base_url: str,
    files: Files,
    *,
    only_if_due: bool = True,
    shown: Files | None = None,
    proxy: str | None = None,
) -> bool:
    """Renew a certificate, and return whether there is a new one. `shown` is the pair to call with
    when `files` are another one of the same holder: the one by which it is called."""
    caller = shown or files
    where = dataclasses.replace(_where(caller), gateway=base_url, proxy=proxy)

    def ask(csr: bytes) -> dict[str, str]:
        return _ask(where, caller, csr, server=shown is not None)

    def settle(new: Files) -> None:
        if shown is None:
            _wait_until_known(where, new)

    return replace(files, ask, settle, only_if_due=only_if_due)


def _where(files: Files) -> _Where:
    try:
        role = Certificate(files.leaf().public_bytes(Encoding.DER)).identity.role
    except BadIdentity as error:
        raise CertificateError(f"{files.cert}: {error.detail}.") from None
    if role not in _WHERE:
        words = f"{files.cert} is a {role} server's: renew it on its machine, by its settings"
        raise CertificateError(f"{words} (gatepost cert renew --config FILE).")
    return _WHERE[role]


def _ask(where: _Where, files: Files, csr: bytes, *, server: bool) -> dict[str, str]:
    body = {"csr": csr, "signature": sign(files, csr)}
    text = {name: base64.b64encode(value).decode() for name, value in body.items()}
    whole = text | {"usage": "server"} if server else text
    call = Call("POST", where.path, repeatable=True, headers={"X-Request-Id": ""})
    with _calling(where, files) as http:
        try:
            answer = http.post(where.path, json=whole)
        except TransportFailure as failure:
            raise explain(call, failure) from None
    if answer.status_code != 201:
        raise refusal(call, answer, datetime.now(UTC))
    return _read(answer)


def sign(files: Files, csr: bytes) -> bytes:
    """Return the signature that proves that a request comes from the holder of this certificate."""
    held = read_key(files.key)
    if not isinstance(held, ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey):
        raise CertificateError("The key is neither EC nor RSA.")
    return sign_renewal(held, csr)


def _calling(where: _Where, files: Files) -> httpx.Client:
    how = settings(
        where.gateway,
        ca=files.ca,
        cert=files.cert,
        key=files.key,
        timeout=TIMEOUT,
        proxy=where.proxy,
        expect=where.expect,
    )
    return httpx.Client(**how)


def _wait_until_known(where: _Where, new: Files) -> None:
    """Wait until the new certificate is known. Each process that is called learns of it by itself;
    until all have, the old one is shown.

    Which process answers is chance: so all that answer for a while must have taken it.
    """
    deadline = time.monotonic() + KNOWN_WITHIN
    since: float | None = None
    while since is None or time.monotonic() - since < SETTLED_SECONDS:
        if time.monotonic() > deadline:
            words = "The gateway doesn't know the new certificate yet: it is used later."
            raise Unavailable(words)
        known = _is_known(where, new)
        since = (since or time.monotonic()) if known else None
        time.sleep(LOOK_SECONDS)


def _is_known(where: _Where, new: Files) -> bool:
    with _calling(where, new) as http:
        try:
            return http.get(where.known).status_code == 200
        except TransportFailure:
            return False


def _read(answer: httpx.Response) -> dict[str, str]:
    try:
        document = answer.json()
        return {name: str(document[name]) for name in ("cert", "ca")}
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UnexpectedAnswer("The answer is not a certificate.") from None


def files_of(ca: FileName, cert: FileName, key: FileName) -> Files:
    return Files(Path(ca), Path(cert), Path(key))
