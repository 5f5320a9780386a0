"""The files of a holder, and the change from an old pair to a new one.

Two files can't change at once. So the new pair is whole on disk before the first changes; whoever
comes after an interruption finishes the change, and a reader that meets one of each reads again.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509

from gatepost.client.errors import CertificateError
from gatepost.client.keys import make_key
from gatepost.client.trust import read_key
from gatepost.errors import ConfigurationError
from gatepost.owners import give, owner_of
from gatepost.trust.certificates import Unreadable, belongs_to, read_certificates
from gatepost.whole_file import replace_file


@dataclass(frozen=True, slots=True)
class Files:
    ca: Path
    cert: Path
    key: Path

    @property
    def next_cert(self) -> Path:
        return self.cert.with_name(self.cert.name + ".next")

    @property
    def next_key(self) -> Path:
        return self.key.with_name(self.key.name + ".next")

    def leaf(self) -> x509.Certificate:
        return _read(self.cert)[0]

    def trusted(self) -> list[x509.Certificate]:
        return _read(self.ca)

    def stamp(self) -> tuple[int, int] | None:
        """Return a value that changes whenever the certificate is written; None if it isn't
        there."""
        try:
            status = self.cert.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_ino

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep others out: of two programs that share the files, the second sees what the first
        did.

        A change that was interrupted is finished first.
        """
        with _lock(self.key.with_name(self.key.name + ".lock")):
            self._finish()
            yield

    def new_key(self, *, another: bool = False) -> bytes:
        """Return the next key: that of an earlier attempt, so that what it was granted isn't lost,
        unless there is none or `another` is wanted."""
        if another or not self.next_key.exists():
            _put(self.next_key, make_key())
        return self.next_key.read_bytes()

    def prepare(self, chain: bytes) -> "Files":
        """Write the new chain, and return the new pair under the names that it has until it is
        swapped in."""
        _put(self.next_cert, chain)
        return Files(self.ca, self.next_cert, self.next_key)

    def swap(self, ca: bytes) -> None:
        """Put the CA file and the new pair in their places. An interruption before this leaves the
        CA file as it is, as that may be newer by the time the change is finished."""
        _put(self.ca, ca)
        self._finish()

    def _finish(self) -> None:
        if not self.next_cert.exists():
            return
        leaf = _read(self.next_cert)[0]
        if self.next_key.exists() and _is_for(self.next_key, leaf):
            _put(self.key, self.next_key.read_bytes())
        if _is_for(self.key, leaf):
            _put(self.cert, self.next_cert.read_bytes())
            self.next_key.unlink(missing_ok=True)
        self.next_cert.unlink()


def _read(file: Path) -> list[x509.Certificate]:
    try:
        return read_certificates(file.read_bytes())
    except (OSError, Unreadable) as error:
        reason = getattr(error, "strerror", None) or "it is not PEM"
        raise CertificateError(f"{file} can't be read: {reason}.") from None


def _is_for(key: Path, leaf: x509.Certificate) -> bool:
    return belongs_to(read_key(key), leaf)


def _put(file: Path, data: bytes) -> None:
    try:
        replace_file(file, data)
    except ConfigurationError as error:
        raise CertificateError(error.detail) from None


@contextmanager
def _lock(file: Path) -> Iterator[None]:
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        give(descriptor, owner_of(file.parent))
    except OSError as error:
        raise CertificateError(f"{file} can't be made: {error.strerror}.") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
