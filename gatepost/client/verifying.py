"""Verifies what a CA has answered, before any of it is shown or trusted.

The answer comes by others' hands: over plain HTTP, or by a proxy that may have been taken. So
nothing counts that doesn't hang on a root that is known already, and nothing else of the text is
kept: OpenSSL would trust blocks in it that nobody here has looked at.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from gatepost.client.errors import CertificateError, UnexpectedAnswer
from gatepost.trust.certificate_rules import is_issued_by
from gatepost.trust.certificates import (
    Unreadable,
    belongs_to,
    find_extension,
    read_certificates,
    read_private_key,
)


@dataclass(frozen=True, slots=True)
class Verified:
    """Our certificate, and the PEM of the chain that is shown with it and of what to trust."""

    leaf: x509.Certificate
    chain: bytes
    ca: bytes


def verify(
    chain: bytes, ca: bytes, key: bytes, is_root: Callable[[x509.Certificate], bool]
) -> Verified:
    """Verify an answer: the root by who asks, intermediates by the root, the leaf by an
    intermediate, its key by ours."""
    try:
        leaf, *above = read_certificates(chain)
        root, *others = read_certificates(ca)
        is_ours = belongs_to(read_private_key(key), leaf)
    except Unreadable:
        raise UnexpectedAnswer("The answer is not a certificate.") from None
    if not is_root(root):
        raise CertificateError("The answer is not from our CA: its root is another.")
    if not all(is_issued_by(one, root) and _signs(one) for one in (root, *others)):
        raise CertificateError("The answer does not hang together: it is not trusted.")
    if not any(is_issued_by(leaf, one) for one in others):
        raise CertificateError("The certificate is of nobody whom our root knows.")
    if not is_ours:
        raise CertificateError("The certificate is for another key.")
    return Verified(leaf, _pem((leaf, *above)), _pem((root, *others)))


def _signs(certificate: x509.Certificate) -> bool:
    """Return whether a certificate may sign others: a leaf of the same root signs nothing, whoever
    has its key."""
    constraints = find_extension(certificate, x509.BasicConstraints)
    return constraints is not None and constraints.ca


def _pem(certificates: Iterable[x509.Certificate]) -> bytes:
    return b"".join(one.public_bytes(Encoding.PEM) for one in certificates)
