"""Check which keys may be certified: those strong enough today, of a kind that every peer knows.

P-256 by default, P-384, RSA from 3072 bits. Others are refused, with what to do.
"""

from hashlib import sha256
from typing import TypeAlias

from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from gatepost.errors import BadSigningRequest

PublicKey: TypeAlias = ec.EllipticCurvePublicKey | rsa.RSAPublicKey

RSA_BITS = range(3072, 8192 + 1)
_ADVICE = "make one with: openssl ecparam -name prime256v1 -genkey"


def check_key(key: object) -> PublicKey:
    if isinstance(key, ec.EllipticCurvePublicKey):
        if not isinstance(key.curve, ec.SECP256R1 | ec.SECP384R1):
            raise BadSigningRequest(
                f"The key is on {key.curve.name}, not P-256 or P-384; {_ADVICE}"
            )
        return key
    if isinstance(key, rsa.RSAPublicKey):
        if key.key_size not in RSA_BITS:
            words = f"{RSA_BITS[0]} to {RSA_BITS[-1]} bits"
            raise BadSigningRequest(f"The RSA key has {key.key_size} bits, not {words}; {_ADVICE}")
        if key.public_numbers().e != 65537:
            raise BadSigningRequest(f"The RSA key's exponent is not 65537; {_ADVICE}")
        return key
    raise BadSigningRequest(f"The key is neither EC nor RSA; {_ADVICE}")


def key_digest(key: PublicKey) -> bytes:
    """Return the digest by which a key is known again, whatever certificate it is in."""
    return sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).digest()
