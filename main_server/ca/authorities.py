"""The intermediates of a folder: the one that signs, and those whose lists are signed beside it.

They are read again when the files have changed, each time that somebody asks for them, so that
nobody issues or revokes by an intermediate that was replaced a moment ago. An intermediate beside
the one that signs counts if its key is there, too.
"""

from contextlib import suppress
from pathlib import Path

from cryptography import x509

from gatepost.errors import ConfigurationError
from gatepost.trust.certificates import find_extension
from main_server.ca.authority import Authority, load_authority, read_pair

_BESIDE = ("next", "retiring")
_Seen = list[tuple[str, int, int]]


class Authorities:
    def __init__(self, folder: Path, public_url: str | None = None) -> None:
        self._folder = folder
        self._public_url = public_url
        seen = self._look()
        self._known = seen, self._read(seen)

    @property
    def signing(self) -> Authority:
        return self.all[0]

    @property
    def all(self) -> list[Authority]:
        """The intermediates, the one that signs first; while the files can't be read, those that
        were read last."""
        with suppress(ConfigurationError):
            self.refresh()
        return self._known[1]

    @property
    def states(self) -> list[tuple[Authority, str]]:
        """Return each intermediate with what it does: signs, next, retiring."""
        self.refresh()
        seen, everyone = self._known
        return list(zip(everyone, ["signs", *(name for name, *_ in seen[1:])], strict=True))

    def find(self, kid: str) -> Authority | None:
        return next((one for one in self.all if one.kid == kid), None)

    def issuer_of(self, certificate: x509.Certificate) -> Authority | None:
        key = find_extension(certificate, x509.AuthorityKeyIdentifier)
        return self.find(((key and key.key_identifier) or b"").hex())

    def refresh(self) -> None:
        """Read the files again if they have changed; raise ConfigurationError if they can't be
        read."""
        seen = self._look()
        if seen != self._known[0]:
            self._known = seen, self._read(seen)

    def _read(self, seen: _Seen) -> list[Authority]:
        signing = load_authority(self._folder, self._public_url)
        beside = [name for name, *_ in seen if name in _BESIDE]
        return [signing, *(read_pair(self._folder, name, self._public_url) for name in beside)]

    def _look(self) -> _Seen:
        found = []
        for name in ("intermediate", *_BESIDE):
            with suppress(FileNotFoundError):
                (self._folder / f"{name}.key").stat()
                status = (self._folder / f"{name}.pem").stat()
                found.append((name, status.st_mtime_ns, status.st_ino))
        return found
