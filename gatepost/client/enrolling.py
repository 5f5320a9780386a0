"""Enrols a holder: sends a request for its key, with a token, and gets a certificate back.

This goes over plain HTTP: what is sent is of use to nobody else, and what comes back is verified by
the token (gatepost.wire.enrolment).
"""

import base64
import re
from dataclasses import dataclass
from datetime import UTC, datetime

import httpx
from cryptography.hazmat.primitives.serialization import Encoding

from gatepost.client.connection import proxy_at
from gatepost.client.errors import (
    GatepostError,
    RateLimited,
    Refused,
    Unavailable,
    UnexpectedAnswer,
)
from gatepost.client.keys import make_request
from gatepost.client.refusals import problem_of, retry_after
from gatepost.client.verifying import verify
from gatepost.wire.enrolment import Token

PATH = "/enrol"
TIMEOUT = 15.0
_GATEWAY = re.compile(r"\Ahttps://[A-Za-z0-9.:\[\]-]{1,260}\Z")


@dataclass(frozen=True, slots=True)
class Enrolled:
    """The PEM of the chain and of what to trust, and where to send, if the gateway says so."""

    chain: bytes
    ca: bytes
    gateway: str | None


def enrol(url: str, token: Token, key_pem: bytes, proxy: str | None = None) -> Enrolled:
    """Enrol a key with a token; repeated with the same key, it is given the same certificate."""
    csr = make_request(key_pem)
    body = {"public_key": token.public_key, "signature": token.sign(csr), "csr": csr}
    text = {name: base64.b64encode(value).decode() for name, value in body.items()}
    try:
        with httpx.Client(timeout=TIMEOUT, trust_env=False, proxy=proxy_at(proxy)) as http:
            answer = http.post(url.rstrip("/") + PATH, json=text)
    except httpx.HTTPError as error:
        raise Unavailable(f"{url} does not answer: {type(error).__name__}.") from None
    if answer.status_code != 201:
        raise _refusal(answer)
    chain, ca, gateway = _read(answer)
    found = verify(chain, ca, key_pem, lambda one: token.fits(one.public_bytes(Encoding.DER)))
    return Enrolled(found.chain, found.ca, gateway)


def _refusal(answer: httpx.Response) -> GatepostError:
    """Return the error for a refusal. After a retryable one, the holder may ask again later, with
    the same token and the same key."""
    problem, status = problem_of(answer), answer.status_code
    words = (problem and problem.detail) or f"It was answered with status {status}."
    if status != 429 and status < 500:
        return Refused(words, problem=problem)
    kind = RateLimited if status == 429 else Unavailable
    wait = retry_after(answer.headers.get("Retry-After"), datetime.now(UTC))
    return kind(words, problem=problem, retry_after=wait)


def _read(answer: httpx.Response) -> tuple[bytes, bytes, str | None]:
    try:
        document = answer.json()
        gateway = document["gateway"]
        if gateway is not None and not _GATEWAY.match(gateway):
            raise ValueError
        return document["cert"].encode(), document["ca"].encode(), gateway
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise UnexpectedAnswer("The answer is not a certificate.") from None
