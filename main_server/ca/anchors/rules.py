"""The rules for a CA that isn't ours to become a trust anchor, and for its certificates to be
known.

Pure. Keys, signatures, purpose and lifetime must be as those of ours.
"""

from collections.abc import Iterable
from datetime import datetime

from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding

from gatepost.clock import from_ms, to_ms
from gatepost.errors import BadIdentity, BadSigningRequest, Invalid
from gatepost.trust.anchors import find_named, listed_number
from gatepost.trust.certificate_rules import check_key, is_issued_by
from gatepost.trust.certificates import Unreadable, find_extension, key_of, read_certificates
from gatepost.trust.identity import Identity, Role
from main_server.ca.anchors.repository import Anchor, Foreign
from main_server.ca.authority import BACKDATE
from main_server.ca.keys import check_key as check_public_key
from main_server.ca.keys import key_digest
from main_server.ca.profiles import PROFILES

MAX_BYTES = 16 * 1024
LONGEST = PROFILES[Role.CLIENT].lifetime


def read_one(pem: bytes) -> x509.Certificate:
    """Read a certificate; raise Invalid unless it is exactly one, PEM."""
    try:
        found = read_certificates(pem) if len(pem) <= MAX_BYTES else []
        for one in found:
            key_of(one)
    except Unreadable:
        found = []
    if len(found) != 1:
        raise Invalid("It is not one certificate in PEM.")
    return found[0]


def make_anchor(
    certificate: x509.Certificate,
    domain: str,
    beside: Iterable[x509.Certificate],
    now: datetime,
) -> Anchor:
    """Make an anchor; raise Invalid unless it is a CA that can't be mistaken for one of those that
    are `beside` it, ours and others."""
    digest = _digest(certificate, now)
    _check_ca(certificate)
    for other in beside:
        if key_of(other) == key_of(certificate):
            continue  # the caller sees to it whose that is
        if _plain(other.subject) == _plain(certificate.subject) or (
            _key_id(other) == _key_id(certificate)
        ):
            raise Invalid("It has the name or the key identifier of a CA that is trusted here.")
    ends = from_ms(to_ms(certificate.not_valid_after_utc))
    der = certificate.public_bytes(Encoding.DER)
    return Anchor(digest, domain, der, ends, from_ms(to_ms(now)), None)


def make_foreign(
    certificate: x509.Certificate, identity: Identity, anchors: Iterable[Anchor], now: datetime
) -> Foreign:
    """Make a certificate ready to be registered; raise Invalid unless one of these anchors, its
    domain's, has signed it, and it keeps the rules."""
    digest = _digest(certificate, now)
    try:
        named = find_named(certificate)
    except BadIdentity as error:
        raise Invalid(f"It can't be registered: {error.detail}.") from None
    if named not in (None, identity.uri):
        raise Invalid(
            "It names somebody else in its SAN URI: leave it out, or name whom it is for."
        )
    begins, ends = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if ends - begins > LONGEST + BACKDATE:
        raise Invalid(f"It lives longer than {LONGEST.days} days, as no client's does.")
    signed = (one for one in anchors if is_issued_by(certificate, one.certificate))
    if (anchor := next(signed, None)) is None:
        raise Invalid(f"No trust anchor of the domain {identity.domain} has signed it itself.")
    fingerprint = certificate.fingerprint(SHA256())
    return Foreign(
        serial=listed_number(fingerprint.hex()),
        identity=identity,
        fingerprint=fingerprint,
        public_key=digest,
        not_before=begins,
        not_after=ends,
        anchor=anchor.anchor,
        der=certificate.public_bytes(Encoding.DER),
    )


def _digest(certificate: x509.Certificate, now: datetime) -> bytes:
    """Return the digest by which its key is known again; raise Invalid unless key, signature and
    time are good."""
    try:
        check_key(certificate)
        key = check_public_key(key_of(certificate))
    except (BadIdentity, BadSigningRequest) as error:
        raise Invalid(f"It can't be used: {error.detail}.") from None
    if not certificate.not_valid_before_utc <= now < certificate.not_valid_after_utc:
        raise Invalid("It is not valid now.")
    return key_digest(key)


def _check_ca(certificate: x509.Certificate) -> None:
    if certificate.version is not x509.Version.v3:
        raise Invalid("It is not of version 3.")
    constraints = find_extension(certificate, x509.BasicConstraints)
    if constraints is None or not constraints.ca:
        raise Invalid("It is not the certificate of a CA.")
    usage = find_extension(certificate, x509.KeyUsage)
    if usage is None or not usage.key_cert_sign:
        raise Invalid("Its key usage is not that of a CA.")
    if not _key_id(certificate):
        raise Invalid("It has no key identifier, by which two of one name are told apart.")


def _plain(name: x509.Name) -> list[list[tuple[str, str]]]:
    """Return a name as OpenSSL compares names: neither case nor the amount of space tells two
    apart."""
    return [
        sorted((one.oid.dotted_string, " ".join(str(one.value).lower().split())) for one in part)
        for part in name.rdns
    ]


def _key_id(certificate: x509.Certificate) -> bytes:
    found = find_extension(certificate, x509.SubjectKeyIdentifier)
    return found.digest if found else b""
