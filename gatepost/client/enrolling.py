"""Enrolling: a key is made here, and with a token a certificate comes back for it.

Over plain HTTP: what is sent is of use to nobody else, and what comes back is verified by the
token (gatepost.enrolment).
"""

import base64
import re
from dataclasses import dataclass

import httpx
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key

from gatepost.client.errors import CertificateError, Refused, Unavailable, UnexpectedAnswer
from gatepost.client.keys import make_request
from gatepost.enrolment import Token

PATH = "/enrol"
TIMEOUT = 15.0
_GATEWAY = re.compile(r"\Ahttps://[A-Za-z0-9.:\[\]-]{1,260}\Z")


@dataclass(frozen=True, slots=True)
class Enrolled:
    """PEM of the chain and of what to trust; where to send, if the gateway says so."""

    chain: bytes
    ca: bytes
    gateway: str | None


def enrol(url: str, token: Token, key_pem: bytes) -> Enrolled:
    """Repeated with the same key, it is given the same certificate."""
    csr = make_request(key_pem)
    body = {"public_key": token.public_key, "signature": token.sign(csr), "csr": csr}
    text = {name: base64.b64encode(value).decode() for name, value in body.items()}
    try:
        answer = httpx.post(url.rstrip("/") + PATH, json=text, timeout=TIMEOUT, trust_env=False)
    except httpx.HTTPError as error:
        raise Unavailable(f"{url} does not answer: {type(error).__name__}.") from None
    if answer.status_code != 201:
        raise Refused(_reason(answer))
    enrolled = _read(answer)
    _verify(enrolled, token, key_pem)
    return enrolled


def _reason(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["detail"])
    except (ValueError, KeyError, TypeError):
        return f"It was answered with status {answer.status_code}."


def _read(answer: httpx.Response) -> Enrolled:
    try:
        document = answer.json()
        gateway = document["gateway"]
        if gateway is not None and not _GATEWAY.match(gateway):
            raise ValueError
        return Enrolled(document["cert"].encode(), document["ca"].encode(), gateway)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UnexpectedAnswer("The answer is not a certificate.") from None


def _verify(enrolled: Enrolled, token: Token, key_pem: bytes) -> None:
    """Root by the token, intermediates by the root, leaf by an intermediate, key by ours."""
    try:
        leaf, *_ = x509.load_pem_x509_certificates(enrolled.chain)
        root, *others = x509.load_pem_x509_certificates(enrolled.ca)
    except ValueError:
        raise UnexpectedAnswer("The answer is not a certificate.") from None
    if not token.fits(root.public_bytes(Encoding.DER)):
        raise CertificateError("The answer is not from where the token is: its root is another.")
    try:
        for one in others:
            one.verify_directly_issued_by(root)
        if not any(_is_issued_by(leaf, one) for one in others):
            raise CertificateError("The certificate is of nobody whom the token's root knows.")
    except (InvalidSignature, ValueError, TypeError):
        raise CertificateError("The answer does not hang together: it is not trusted.") from None
    if leaf.public_key() != load_pem_private_key(key_pem, None).public_key():
        raise CertificateError("The certificate is for another key.")


def _is_issued_by(leaf: x509.Certificate, issuer: x509.Certificate) -> bool:
    try:
        leaf.verify_directly_issued_by(issuer)
    except (InvalidSignature, ValueError, TypeError):
        return False
    return True
