"""Where an issued certificate is written: 0600, and never over a key that is there."""

import os
from dataclasses import dataclass
from pathlib import Path

from gatepost.errors import ConfigurationError
from gatepost.whole_file import replace_file
from main_server.ca.pkcs12 import to_pkcs12
from main_server.ca.service import Certified, Issued


@dataclass(frozen=True, slots=True)
class Place:
    folder: Path
    name: str
    password_file: Path | None
    own_key: bool
    """Whether the key is made here, and so has to be written."""

    @property
    def key(self) -> Path | None:
        if not self.own_key:
            return None
        return self.folder / f"{self.name}.{'p12' if self.password_file else 'key'}"

    def check(self) -> None:
        """Before anything is signed that couldn't be written then."""
        if self.password_file is not None and not self.own_key:
            raise ConfigurationError("PKCS#12 holds the key, and a request doesn't bring it")
        if self.key is not None and self.key.exists():
            raise ConfigurationError(f"{self.key} is there already: move it away, or say --out")
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigurationError(f"{self.folder} can't be made: {error.strerror}") from None
        if not os.access(self.folder, os.W_OK):
            raise ConfigurationError(f"{self.folder} can't be written to")

    def write(self, made: Certified, pins: bytes) -> list[Path]:
        """The key first: a certificate without it would be of no use."""
        written = []
        if isinstance(made, Issued) and self.key is not None:
            data = made.key_pem
            if self.password_file is not None:
                data = to_pkcs12(made, self.name, read_password(self.password_file))
            replace_file(self.key, data)
            written.append(self.key)
        for name, pem in ((self.name, made.chain_pem), ("ca", pins)):
            file = self.folder / f"{name}.pem"
            replace_file(file, pem)
            written.append(file)
        return written


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
