"""Makes the keys of a holder, where they are used, and the requests to have them certified."""

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from gatepost.client.errors import CertificateError
from gatepost.trust.certificates import Unreadable, read_private_key

KEY_USED = "urn:gatepost:problem:key-used-before"
"""The type of the problem for a key whose certificate isn't to be had any more."""


def make_key() -> bytes:
    """Return a new P-256 key, as PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def make_request(key_pem: bytes) -> bytes:
    """Return a signing request for this key, as DER. It names nobody: whose certificate it becomes
    isn't the requester's to say."""
    try:
        key = read_private_key(key_pem)
    except Unreadable:
        raise CertificateError("The key can't be read.") from None
    if not isinstance(key, ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey):
        raise CertificateError("The key is neither EC nor RSA.")
    builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([]))
    return builder.sign(key, SHA256()).public_bytes(Encoding.DER)
