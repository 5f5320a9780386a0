"""Master keys: they wrap every other key, and stand nowhere but in their file.

The file may hold several, so that one can be exchanged while servers run: what is stored names the
key that wraps it, and a name that isn't known makes us read the file again.
"""

import secrets
from collections.abc import Callable, Sequence
from datetime import date
from hashlib import sha256
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from gatepost.errors import ConfigurationError, KeysUnavailable
from main_server.key_file import read_keys

_NONCE = 12


class MasterKey:
    """A master key. It wraps with AES-256-GCM, each time bound to what the wrapped key is for."""

    def __init__(self, key: bytes) -> None:
        self._cipher = AESGCM(key)
        self.kid = sha256(b"gatepost master key id" + key).digest()[:8]

    def wrap(self, key: bytes, purpose: bytes) -> bytes:
        nonce = secrets.token_bytes(_NONCE)
        return nonce + self._cipher.encrypt(nonce, key, purpose)

    def unwrap(self, wrapped: bytes, purpose: bytes) -> bytes:
        """Unwrap a key. A failure says nothing of the messages below that key: it may yet be
        restored."""
        try:
            return self._cipher.decrypt(wrapped[:_NONCE], wrapped[_NONCE:], purpose)
        except (InvalidTag, ValueError):
            words = "A stored key can't be unwrapped: it was altered, or moved. Restore it."
            raise KeysUnavailable(words) from None


class MasterKeys:
    """The master keys that `read` gives, the newest first; read again when another is asked for."""

    def __init__(self, read: Callable[[], Sequence[MasterKey]]) -> None:
        self._read = read
        self._keys = list(read())

    @property
    def newest(self) -> MasterKey:
        return self._keys[0]

    def refresh(self) -> None:
        """Read the file again. Raise ConfigurationError if it can't be used any more; what we have
        stays."""
        self._keys = list(self._read())

    def get(self, kid: bytes) -> MasterKey:
        found = self._find(kid)
        if found is None:
            try:
                self.refresh()
            except ConfigurationError as error:
                raise KeysUnavailable(str(error)) from None
            found = self._find(kid)
        if found is None:
            raise KeysUnavailable(f"The master key {kid.hex()} is not in the master key file.")
        return found

    def _find(self, kid: bytes) -> MasterKey | None:
        return next((key for key in self._keys if key.kid == kid), None)


def service_purpose(purpose: str, kid: bytes) -> bytes:
    """Return what a service key is wrapped as: one in another's place doesn't unwrap."""
    return f"gatepost {purpose} key ".encode() + kid


def data_purpose(key_id: int, client_id: str, day: date) -> bytes:
    return f"gatepost data key {key_id} {client_id} {day.isoformat()}".encode()


def read_master_keys(file: Path) -> list[MasterKey]:
    return [MasterKey(key) for key in read_keys(file)]
