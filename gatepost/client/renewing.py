"""Renewing one's own certificate over mutual TLS; blocking, for both clients and the command."""

import base64
import time
from datetime import UTC, datetime
from pathlib import Path

import httpx
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from gatepost.client.calls import WHOAMI, Call
from gatepost.client.connection import FileName, settings
from gatepost.client.errors import CertificateError, Unavailable, UnexpectedAnswer
from gatepost.client.failures import TransportFailure, explain
from gatepost.client.files import Files
from gatepost.client.keys import make_request
from gatepost.client.refusals import refusal
from gatepost.renewal import SETTLED_SECONDS, renewable_from, sign_renewal

PATH = "/api/v1/certificates/renew"
TIMEOUT = 20.0
KNOWN_WITHIN, LOOK_SECONDS = 60.0, 0.1


def is_due(files: Files, now: datetime | None = None) -> bool:
    return (now or datetime.now(UTC)) >= renewable_from(files.leaf())


def renew(base_url: str, files: Files, *, only_if_due: bool = True) -> bool:
    """Whether there is a new certificate. Files that another program renewed are left alone."""
    with files.alone():
        if only_if_due and not is_due(files):
            return False
        old, key = files.leaf(), files.new_key()
        document = _ask(base_url, files, key)
        chain, ca = document["cert"].encode(), document["ca"].encode()
        _check(chain, ca, old, key)
        _wait_until_known(base_url, files.prepare(chain, ca))
        files.swap()
        return True


def _ask(base_url: str, files: Files, key: bytes) -> dict[str, str]:
    csr = make_request(key)
    held = load_pem_private_key(files.key.read_bytes(), None)
    if not isinstance(held, ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey):
        raise CertificateError("The key is neither EC nor RSA.")
    body = {"csr": csr, "signature": sign_renewal(held, csr)}
    text = {name: base64.b64encode(value).decode() for name, value in body.items()}
    call = Call("POST", PATH, repeatable=True, headers={"X-Request-Id": ""})
    how = settings(base_url, ca=files.ca, cert=files.cert, key=files.key, timeout=TIMEOUT)
    with httpx.Client(**how) as http:
        try:
            answer = http.post(PATH, json=text)
        except TransportFailure as failure:
            raise explain(call, failure) from None
    if answer.status_code != 201:
        raise refusal(call, answer, datetime.now(UTC))
    return _read(answer)


def _wait_until_known(base_url: str, new: Files) -> None:
    """Each process of the edge learns of it by itself; until they have, the old one is shown.

    Which process answers is chance: so all that answer for a while must have taken it.
    """
    deadline = time.monotonic() + KNOWN_WITHIN
    since: float | None = None
    while since is None or time.monotonic() - since < SETTLED_SECONDS:
        if time.monotonic() > deadline:
            words = "The gateway doesn't know the new certificate yet: it is used later."
            raise Unavailable(words)
        known = _is_known(base_url, new)
        since = (since or time.monotonic()) if known else None
        time.sleep(LOOK_SECONDS)


def _is_known(base_url: str, new: Files) -> bool:
    how = settings(base_url, ca=new.ca, cert=new.cert, key=new.key, timeout=TIMEOUT)
    with httpx.Client(**how) as http:
        try:
            return http.get(WHOAMI).status_code == 200
        except TransportFailure:
            return False


def _read(answer: httpx.Response) -> dict[str, str]:
    try:
        document = answer.json()
        return {name: str(document[name]) for name in ("cert", "ca")}
    except (ValueError, KeyError, TypeError):
        raise UnexpectedAnswer("The answer is not a certificate.") from None


def _check(chain: bytes, ca: bytes, old: x509.Certificate, key: bytes) -> None:
    """Before the old one is replaced: it is for our key, says who we are, and can be trusted."""
    try:
        new = x509.load_pem_x509_certificates(chain)[0]
        x509.load_pem_x509_certificates(ca)
    except ValueError:
        raise UnexpectedAnswer("The answer is not a certificate.") from None
    if new.public_key() != load_pem_private_key(key, None).public_key():
        raise CertificateError("The new certificate is for another key.")
    if _name(new) != _name(old):
        raise CertificateError("The new certificate is for somebody else.")


def _name(certificate: x509.Certificate) -> list[str]:
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return names.get_values_for_type(x509.UniformResourceIdentifier)


def files_of(ca: FileName, cert: FileName, key: FileName) -> Files:
    return Files(Path(ca), Path(cert), Path(key))
