"""Signs and verifies renewals: a holder signs with the key that it has, to have another one
certified.

Renewal goes over mutual TLS, for a partner through the proxy; but a proxy must not be able to renew
for anybody. So the new request is signed by the old key as well.
"""

from datetime import datetime

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256

from gatepost.trust.certificates import key_of

_SIGNED = b"gatepost renewal v1\0"

SURE_SECONDS = 2.5
"""The age of a server's list of certificates above which it can't tell whether one is unknown."""
SETTLED_SECONDS = 3.0
"""The time for which a new certificate must have been taken before it is shown alone. It is longer
than SURE_SECONDS: then whoever does not know it yet says so, and nobody refuses it."""


def sign_renewal(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey, csr: bytes) -> bytes:
    if isinstance(key, rsa.RSAPrivateKey):
        return key.sign(_SIGNED + csr, padding.PKCS1v15(), SHA256())
    return key.sign(_SIGNED + csr, ec.ECDSA(SHA256()))


def is_signed_by(certificate: x509.Certificate, signature: bytes, csr: bytes) -> bool:
    key = key_of(certificate)
    try:
        if isinstance(key, rsa.RSAPublicKey):
            key.verify(signature, _SIGNED + csr, padding.PKCS1v15(), SHA256())
        elif isinstance(key, ec.EllipticCurvePublicKey):
            key.verify(signature, _SIGNED + csr, ec.ECDSA(SHA256()))
        else:
            return False
    except InvalidSignature:
        return False
    return True


def renewable_from(certificate: x509.Certificate) -> datetime:
    """Return the time from which a certificate is renewed, at two thirds of its life: early enough
    to be repeated for days, if it has to be."""
    begin, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    return begin + (end - begin) * 2 / 3
