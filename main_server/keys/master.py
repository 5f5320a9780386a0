"""The master key: read from its file, it wraps every other key and is stored nowhere else."""

import secrets
import stat
from hashlib import sha256
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from gatepost.errors import CannotOpen, ConfigurationError

KEY_BYTES = 32
_NONCE = 12


class MasterKey:
    """Wraps keys with AES-256-GCM, each bound to what it is for."""

    def __init__(self, key: bytes) -> None:
        self._cipher = AESGCM(key)
        self.kid = sha256(b"gatepost master key id" + key).digest()[:8]

    def wrap(self, key: bytes, purpose: bytes) -> bytes:
        nonce = secrets.token_bytes(_NONCE)
        return nonce + self._cipher.encrypt(nonce, key, purpose)

    def unwrap(self, wrapped: bytes, purpose: bytes) -> bytes:
        try:
            return self._cipher.decrypt(wrapped[:_NONCE], wrapped[_NONCE:], purpose)
        except InvalidTag:
            raise CannotOpen("A key can't be unwrapped: it was altered, or moved.") from None


def read_master_key(file: Path) -> MasterKey:
    """Refuses a key that others can read, and one of the wrong length."""
    try:
        mode = file.stat().st_mode
        key = file.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"the master key {file} can't be read: {error.strerror}") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ConfigurationError(f"the master key {file} can be read by others: chmod 400 {file}")
    if len(key) != KEY_BYTES:
        raise ConfigurationError(f"the master key {file} must have {KEY_BYTES} bytes")
    return MasterKey(key)
