"""Write an issued certificate to files: 0600, and never over a key or a certificate there."""

import os
from dataclasses import dataclass
from pathlib import Path

from gatepost.errors import ConfigurationError
from gatepost.whole_file import create_file, replace_file
from main_server.ca.pkcs12 import check_password, to_pkcs12
from main_server.ca.service import Certified, Issued

_PINS = "ca"


@dataclass(frozen=True, slots=True)
class Place:
    folder: Path
    name: str
    password: str | None
    """The password of the PKCS#12 file, if the key shall be in one."""
    own_key: bool
    """True if the key is made here, and so has to be written."""

    @property
    def key(self) -> Path | None:
        if not self.own_key:
            return None
        return self.folder / f"{self.name}.{'p12' if self.password is not None else 'key'}"

    @property
    def cert(self) -> Path:
        return self.folder / f"{self.name}.pem"

    @property
    def pins(self) -> Path:
        return self.folder / f"{_PINS}.pem"

    def check(self) -> None:
        """Check that all can be written, before anything is signed that couldn't be then."""
        if self.password is not None:
            if not self.own_key:
                raise ConfigurationError("PKCS#12 holds the key, and a request doesn't bring it")
            check_password(self.password)
        if self.name == _PINS:
            raise ConfigurationError(f"{self.pins} says whom to trust: nobody's own file can be it")
        for file in (self.key, self.cert):
            if file is not None and file.exists():
                raise ConfigurationError(f"{file} is there already: move it away, or say --out")
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigurationError(f"{self.folder} can't be made: {error.strerror}") from None
        if not os.access(self.folder, os.W_OK):
            raise ConfigurationError(f"{self.folder} can't be written to")

    def write(self, made: Certified, pins: bytes) -> list[Path]:
        """Write the files, and return them; the key first: a certificate without it would be of no
        use."""
        written = []
        try:
            if isinstance(made, Issued) and self.key is not None:
                create_file(self.key, self._packed(made))
                written.append(self.key)
            create_file(self.cert, made.chain_pem)
            replace_file(self.pins, pins)
        except ConfigurationError as error:
            words = f"certificate {made.serial} was issued all the same: revoke it"
            raise ConfigurationError(f"{error.detail}; {words}") from None
        return [*written, self.cert, self.pins]

    def _packed(self, made: Issued) -> bytes:
        return made.key_pem if self.password is None else to_pkcs12(made, self.name, self.password)


def read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"{file} can't be read: {error.strerror}") from None


def read_password(file: Path) -> str:
    try:
        return read(file).decode().splitlines()[0]
    except (UnicodeDecodeError, IndexError):
        raise ConfigurationError(f"{file} has no first line of text") from None
