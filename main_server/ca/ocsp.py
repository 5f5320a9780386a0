"""OCSP (RFC 6960): the state of one certificate, signed by a responder that the issuer delegated.

The responder's key lives in this process only. Its certificate is short-lived and in the ledger
like every other; it carries id-pkix-ocsp-nocheck, because nobody could say that it is good.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509 import ocsp
from sqlalchemy import Engine

from gatepost.trust.certificates import Unreadable, key_of, read_question
from gatepost.trust.revocation import Reason
from main_server.ca import repository
from main_server.ca.authorities import Authorities
from main_server.ca.authority import Authority, new_key, new_serial
from main_server.ca.list_repository import Filter, Status, list_rows
from main_server.ca.revoked.repository import Selection, find_revoked
from main_server.store.database import transact

MAX_BYTES = 4096
RESPONDER_LIFETIME, RENEWED_BEFORE = timedelta(days=7), timedelta(days=1)
GOOD_FOR = timedelta(minutes=5)
_HASHES = (hashes.SHA1, hashes.SHA256, hashes.SHA384, hashes.SHA512)
"""The hashes by which a question names the issuer: SHA-1 there is a name, not a proof."""


@dataclass(frozen=True, slots=True)
class Responder:
    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate


class Responders:
    """The responders, one for each intermediate, made when it is first needed, and again before it
    expires."""

    def __init__(self) -> None:
        self._known: dict[str, Responder] = {}

    def of(self, engine: Engine, authority: Authority, now: datetime) -> Responder:
        known = self._known.get(authority.kid)
        if known is None or known.certificate.not_valid_after_utc - now < RENEWED_BEFORE:
            known = self._known[authority.kid] = _make(engine, authority, now)
        return known


def answer(
    engine: Engine, authorities: Authorities, responders: Responders, data: bytes, now: datetime
) -> bytes:
    """Return the response, DER; a question that can't be read or isn't about us is refused as
    such."""
    try:
        question = read_question(data)
    except Unreadable:
        return _refusal(ocsp.OCSPResponseStatus.MALFORMED_REQUEST)
    algorithm = question.hash_algorithm
    if not isinstance(algorithm, _HASHES) or question.serial_number < 0:
        return _refusal(ocsp.OCSPResponseStatus.MALFORMED_REQUEST)
    authority = next((a for a in authorities.all if _is_meant(question, a)), None)
    if authority is None:
        return _refusal(ocsp.OCSPResponseStatus.UNAUTHORIZED)
    responder = responders.of(engine, authority, now)
    builder = (
        ocsp.OCSPResponseBuilder()
        .add_response_by_hash(
            issuer_name_hash=question.issuer_name_hash,
            issuer_key_hash=question.issuer_key_hash,
            serial_number=question.serial_number,
            algorithm=algorithm,
            this_update=now.replace(microsecond=0),
            next_update=now.replace(microsecond=0) + GOOD_FOR,
            **_state(engine, authority, question.serial_number, now),
        )
        .responder_id(ocsp.OCSPResponderEncoding.HASH, responder.certificate)
        .certificates([responder.certificate])
    )
    for extension in question.extensions:
        if isinstance(extension.value, x509.OCSPNonce):
            builder = builder.add_extension(extension.value, critical=False)
    signed = builder.sign(responder.key, hashes.SHA256())
    return signed.public_bytes(Encoding.DER)


def _state(engine: Engine, authority: Authority, serial: int, now: datetime) -> dict[str, Any]:
    """Return the state that the issuer's list gives, which knows of some certificates that have no
    row like others."""
    where = Selection(serial=f"{serial:032x}", issuer=authority.kid)
    work = partial(find_revoked, issuer=authority.kid, serial=f"{serial:032x}")
    if (entry := transact(engine, work)) is not None:
        plain = entry.reason is Reason.UNSPECIFIED
        return {
            "cert_status": ocsp.OCSPCertStatus.REVOKED,
            "revocation_time": entry.revoked_at,
            "revocation_reason": None if plain else x509.ReasonFlags(entry.reason.value),
        }
    rows = transact(engine, partial(list_rows, wanted=Filter(where), now=now))
    is_known = bool(rows) and rows[0].status_at(now) is not Status.INTENDED
    status = ocsp.OCSPCertStatus.GOOD if is_known else ocsp.OCSPCertStatus.UNKNOWN
    return {"cert_status": status, "revocation_time": None, "revocation_reason": None}


def _is_meant(question: ocsp.OCSPRequest, authority: Authority) -> bool:
    key = key_of(authority.certificate)
    assert isinstance(key, ec.EllipticCurvePublicKey)
    point = key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    subject = authority.certificate.subject.public_bytes()
    hashed = [_hash(question.hash_algorithm, data) for data in (subject, point)]
    return hashed == [question.issuer_name_hash, question.issuer_key_hash]


def _hash(algorithm: hashes.HashAlgorithm, data: bytes) -> bytes:
    digest = hashes.Hash(algorithm)
    digest.update(data)
    return digest.finalize()


def _make(engine: Engine, authority: Authority, now: datetime) -> Responder:
    key, serial = new_key(), new_serial()
    text, until = f"{serial:032x}", now + RESPONDER_LIFETIME
    transact(engine, lambda c: repository.record_responder(c, text, authority.kid, now, until))
    certificate = authority.sign_responder(key.public_key(), serial, now, RESPONDER_LIFETIME)
    digest = certificate.fingerprint(hashes.SHA256())
    der = certificate.public_bytes(Encoding.DER)
    transact(engine, lambda c: repository.activate(c, text, digest, der))
    return Responder(key, certificate)


def _refusal(status: ocsp.OCSPResponseStatus) -> bytes:
    return ocsp.OCSPResponseBuilder.build_unsuccessful(status).public_bytes(Encoding.DER)
