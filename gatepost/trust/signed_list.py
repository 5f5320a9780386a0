"""Reads and verifies signed lists of revoked certificates (CRLs).

Lists may be long: 50,000 entries are two megabytes. Reading one takes a fifth of a second, and no
step of it holds the interpreter for longer than some milliseconds, so that it can be left to a
thread.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed

from gatepost.clock import to_ms
from gatepost.trust.certificates import (
    Unreadable,
    find_extension,
    key_of,
    read_crl,
    reading,
    signed_by,
)


@dataclass(frozen=True, slots=True)
class SignedList:
    """One issuer's list, verified."""

    der: bytes
    number: int
    serials: frozenset[str]
    made_ms: int
    until_ms: int
    """The time until which it holds; 0 if it promises no successor, as it is good for nothing
    then."""


def read_list(der: bytes, issuers: Mapping[str, x509.Certificate]) -> tuple[str, SignedList] | None:
    """Return the id of the issuer's key and the list; None unless one of these issuers has signed
    it.

    The bytes come from whoever can write to Redis: whatever is wrong with them, it is no list.
    """
    try:
        crl = read_crl(der)
        signer = find_extension(crl, x509.AuthorityKeyIdentifier)
        number = find_extension(crl, x509.CRLNumber)
        kid = ((signer and signer.key_identifier) or b"").hex()
        if number is None or kid not in issuers or not _has_signed(issuers[kid], crl, der):
            return None
        with reading("the list's entries"):
            serials = frozenset(f"{one.serial_number:032x}" for one in crl)
    except Unreadable:
        return None
    until = to_ms(crl.next_update_utc) if crl.next_update_utc else 0
    return kid, SignedList(der, number.crl_number, serials, to_ms(crl.last_update_utc), until)


def _has_signed(issuer: x509.Certificate, crl: x509.CertificateRevocationList, der: bytes) -> bool:
    """Return whether this issuer has signed the list. cryptography's own check isn't used, as it
    writes the list anew first, which takes longer than all the rest."""
    key, algorithm = key_of(issuer), signed_by(crl)
    if crl.issuer != issuer.subject or algorithm is None:
        return False
    if not isinstance(key, ec.EllipticCurvePublicKey):
        return False  # our intermediates have no other keys
    with reading("the signature"):  # also of one that is another's, or by a digest of no use
        digest = hashes.Hash(algorithm)
        digest.update(_signed_part(der))
        key.verify(crl.signature, digest.finalize(), ec.ECDSA(Prehashed(algorithm)))
    return True


def _signed_part(der: bytes) -> bytes:
    """Return the first element of the sequence that a list is, as it stands there (RFC 5280,
    5.1)."""
    begin, _ = _content(der, 0)
    _, end = _content(der, begin)
    return der[begin:end]


def _content(der: bytes, at: int) -> tuple[int, int]:
    """Return where the content of the element at this place begins and ends; it has been parsed
    before."""
    length, begin = der[at + 1], at + 2
    if length >= 0x80:
        octets = length & 0x7F
        length, begin = int.from_bytes(der[begin : begin + octets]), begin + octets
    return begin, begin + length
