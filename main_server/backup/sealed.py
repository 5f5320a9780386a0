"""Seal a stream in pieces as it comes: nothing of it lies anywhere readable.

    gatepost-backup-1 <salt, hex> <part>\n      piece | piece | … | last piece

Each piece is AES-256-GCM over a mebibyte. Its nonce is its number and whether it is the last, so
none can be left out, cut off, repeated or moved; the line is bound to each of them. The key is
derived from the passphrase, stretched by scrypt with a salt of this backup, and is another for each
part.
"""

import io
from collections.abc import Iterator
from typing import BinaryIO

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from gatepost.errors import ConfigurationError
from main_server.keys.backup.form import stretch

FORM = "gatepost-backup-1"
SALT_BYTES = 16
PIECE = 2**20
_TAG_BYTES, _LINE_BYTES = 16, 200


class Damaged(ConfigurationError):
    """A backup that can't be what was written."""


class BackupKey:
    """The key by which one backup is sealed."""

    def __init__(self, passphrase: bytes, salt: bytes) -> None:
        self.salt = salt
        self._key = stretch(passphrase, salt)

    def of(self, part: str) -> AESGCM:
        return AESGCM(HKDF(SHA256(), 32, None, f"{FORM} {part}".encode()).derive(self._key))

    def line(self, part: str) -> bytes:
        return f"{FORM} {self.salt.hex()} {part}\n".encode()


class SealedWriter(io.RawIOBase):
    """A file that takes readable bytes, and writes sealed ones. `bytes` is how many it has taken so
    far."""

    def __init__(self, file: BinaryIO, key: BackupKey, part: str) -> None:
        super().__init__()
        self._file, self._line, self._cipher = file, key.line(part), key.of(part)
        self._buffer, self._number = bytearray(), 0
        self.bytes = 0
        file.write(self._line)

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self._buffer += data
        self.bytes += len(data)
        while len(self._buffer) > PIECE:  # the last one, whole or not, waits for the end
            self._seal(bytes(self._buffer[:PIECE]), last=False)
            del self._buffer[:PIECE]
        return len(data)

    def finish(self) -> None:
        self._seal(bytes(self._buffer), last=True)

    def _seal(self, piece: bytes, *, last: bool) -> None:
        self._file.write(self._cipher.encrypt(_nonce(self._number, last), piece, self._line))
        self._number += 1


def read_salt(file: BinaryIO) -> bytes:
    """Return the salt of the backup that this part belongs to; the file is at its beginning again
    afterwards."""
    form, _, rest = file.readline(_LINE_BYTES).partition(b" ")
    file.seek(0)
    try:
        salt = bytes.fromhex(rest.split(b" ")[0].decode())
    except ValueError:
        salt = b""
    if form != FORM.encode() or len(salt) != SALT_BYTES:
        raise Damaged(f"{file.name} is no part of a backup")
    return salt


def open_sealed(file: BinaryIO, key: BackupKey, part: str) -> Iterator[bytes]:
    """Yield what was written, piece by piece; raise Damaged if a piece isn't what it was."""
    line = key.line(part)
    if file.readline(_LINE_BYTES) != line:
        raise Damaged(f"{file.name} is of another backup, or another part")
    cipher, number = key.of(part), 0
    sealed = file.read(PIECE + _TAG_BYTES)
    while True:
        following = file.read(PIECE + _TAG_BYTES)
        try:
            yield cipher.decrypt(_nonce(number, not following), sealed, line)
        except InvalidTag:
            other = "" if number else "the passphrase is another, or "
            words = f"{file.name} can't be opened: {other}it was altered or cut off"
            raise Damaged(words) from None
        if not following:
            return
        sealed, number = following, number + 1


def _nonce(number: int, last: bool) -> bytes:
    return number.to_bytes(11) + bytes([last])
