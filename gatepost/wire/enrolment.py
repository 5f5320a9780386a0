"""The tokens of enrolment, which a partner proves to have been given without ever sending them.

A token is 16 random bytes, and the beginning of the root's fingerprint. A key pair follows from the
random bytes; the ledger keeps a hash of its public half, so that nobody who reads the ledger could
enrol. The partner signs the request with the private half: what is on the wire is of use to nobody
else, so it needs no TLS. The fingerprint tells the partner that the answer is ours.
"""

import base64
import binascii
import re
import secrets
from dataclasses import dataclass
from hashlib import sha256

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

_SECRET_BYTES, _PIN_BYTES = 16, 16
_INFO = b"gatepost enrolment token v1"
_SIGNED = b"gatepost enrolment v1\0"
_GROUPS = re.compile(r"[\s-]+")


@dataclass(frozen=True, slots=True)
class Token:
    """A token that a partner is given. `pin` is the beginning of the SHA-256 of the root, DER."""

    secret: bytes
    pin: bytes

    def __str__(self) -> str:
        """Return the token in groups of four, so that it can be read out."""
        text = base64.b32encode(self.secret + self.pin).decode().rstrip("=")
        return "-".join(text[at : at + 4] for at in range(0, len(text), 4))

    def __repr__(self) -> str:
        return "<Token>"

    @property
    def public_key(self) -> bytes:
        return self._key().public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)

    def sign(self, csr: bytes) -> bytes:
        return self._key().sign(_SIGNED + csr)

    def fits(self, root: bytes) -> bool:
        """Return whether this is the root (DER) that the token was made under."""
        return sha256(root).digest()[:_PIN_BYTES] == self.pin

    def _key(self) -> Ed25519PrivateKey:
        seed = HKDF(SHA256(), 32, salt=None, info=_INFO).derive(self.secret)
        return Ed25519PrivateKey.from_private_bytes(seed)


def new_token(root: bytes) -> Token:
    return Token(secrets.token_bytes(_SECRET_BYTES), sha256(root).digest()[:_PIN_BYTES])


def parse_token(text: str) -> Token:
    """Return a token from the text that was shown; case, blanks and dashes don't matter. Raise
    ValueError if it is none."""
    plain = _GROUPS.sub("", text).upper()
    try:
        raw = base64.b32decode(plain + "=" * (-len(plain) % 8))
    except binascii.Error:
        raise ValueError("this is not a token") from None
    if len(raw) != _SECRET_BYTES + _PIN_BYTES:
        raise ValueError("this is not a token, or not the whole of it")
    return Token(raw[:_SECRET_BYTES], raw[_SECRET_BYTES:])


def token_hash(public_key: bytes) -> bytes:
    """Return the hash that the ledger knows a token by."""
    return sha256(_INFO + public_key).digest()


def is_signed(public_key: bytes, signature: bytes, csr: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, _SIGNED + csr)
    except (InvalidSignature, ValueError):
        return False
    return True
