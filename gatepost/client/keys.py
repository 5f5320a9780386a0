"""Keys of a holder: made where they are used, and the request to have one certified."""

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
"""The type of the refusal of a key whose certificate isn't to be had any more."""


def make_key() -> bytes:
    """PEM, P-256."""
    key = ec.generate_private_key(ec.SECP256R1())
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def make_request(key_pem: bytes) -> bytes:
    """DER. It names nobody: whose certificate it becomes isn't the requester's to say."""
    try:
        key = read_private_key(key_pem)
    except Unreadable:
        raise CertificateError("The key can't be read.") from None
    if not isinstance(key, ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey):
        raise CertificateError("The key is neither EC nor RSA.")
    builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([]))
    return builder.sign(key, SHA256()).public_bytes(Encoding.DER)
