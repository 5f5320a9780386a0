"""Seals messages at the edge, to the main server's public key, so that the edge cannot read back
(I7).

A context is a random secret, encapsulated by HPKE (RFC 9180) to the current sealing key; it lives
in memory for a minute at most and must be made after a fork. Each message has a key of its own,
derived from the secret and its id; the additional data binds the message's id, client and domain.

A key that is too old is refused: the private half of what replaced it long ago may be destroyed by
the time the message is opened (I1).

    sealed = version (1) | sealing key id (8) | encapsulated secret (80) | nonce (12) | ciphertext
"""

import os
import secrets
import time
from dataclasses import dataclass
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

from gatepost.errors import CannotOpen, Unavailable
from gatepost.ids import id_ms
from gatepost.trust.derive import expand

SUITE = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_256_GCM)
CONTEXT_INFO = b"gatepost sealing context v1"
CONTEXT_SECONDS = 60

_VERSION = b"\x01"
_KID = 8
_ENCAPSULATED = 80
_NONCE = 12
_HEADER = 1 + _KID + _ENCAPSULATED + _NONCE


@dataclass(frozen=True, slots=True)
class SealingKey:
    """The main server's current public key, as the bundle carries it."""

    kid: bytes
    public: bytes
    use_until: int
    """The end of its use, in milliseconds since the epoch: no message with a later id is sealed to
    it."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """The parts of a sealed content, before it is opened."""

    kid: bytes
    encapsulated: bytes
    nonce: bytes
    ciphertext: bytes


def additional_data(message_id: UUID, client_id: str, domain: str) -> bytes:
    """Return what a sealed content is bound to. Names hold no NUL, so the parts can't run
    together."""
    return b"\0".join((message_id.bytes, client_id.encode(), domain.encode()))


def message_key(secret: bytes, message_id: UUID) -> bytes:
    return expand(secret, b"gatepost message key v1" + message_id.bytes)


class Sealer:
    """A sealer under the given keys, which renews its context by age, by key and by process."""

    def __init__(self) -> None:
        self._key: SealingKey | None = None
        self._pid = 0
        self._until = 0.0
        self._secret = b""
        self._header = b""

    def seal(
        self, key: SealingKey, message_id: UUID, client_id: str, domain: str, content: bytes
    ) -> bytes:
        if id_ms(message_id) > key.use_until:
            raise Unavailable("The main server was not heard of for too long; try again later.")
        if key != self._key or time.monotonic() > self._until or os.getpid() != self._pid:
            self._renew(key)
        nonce = secrets.token_bytes(_NONCE)
        cipher = AESGCM(message_key(self._secret, message_id))
        bound = additional_data(message_id, client_id, domain)
        return self._header + nonce + cipher.encrypt(nonce, content, bound)

    def _renew(self, key: SealingKey) -> None:
        self._secret = secrets.token_bytes(32)
        public = X25519PublicKey.from_public_bytes(key.public)
        self._header = _VERSION + key.kid + SUITE.encrypt(self._secret, public, info=CONTEXT_INFO)
        self._key, self._pid = key, os.getpid()
        self._until = time.monotonic() + CONTEXT_SECONDS


def parse(sealed: bytes) -> Sealed:
    if len(sealed) <= _HEADER or sealed[:1] != _VERSION:
        raise CannotOpen("the sealed content has an unknown form")
    kid_end, encapsulated_end = 1 + _KID, 1 + _KID + _ENCAPSULATED
    return Sealed(
        kid=sealed[1:kid_end],
        encapsulated=sealed[kid_end:encapsulated_end],
        nonce=sealed[encapsulated_end:_HEADER],
        ciphertext=sealed[_HEADER:],
    )
