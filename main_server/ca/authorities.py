"""The intermediates of a folder: the one that signs, and those whose lists are signed beside it.

They are read again when the files have changed, so that an intermediate can be replaced while main
servers run.
"""

from pathlib import Path

from main_server.ca.authority import Authority, load_authority, read_pair

_BESIDE = ("next", "retiring")


class Authorities:
    def __init__(self, folder: Path, public_url: str | None = None) -> None:
        self._folder = folder
        self._public_url = public_url
        self._seen = self._look()
        self._all = self._read()

    @property
    def signing(self) -> Authority:
        return self._all[0]

    @property
    def all(self) -> list[Authority]:
        """The one that signs first."""
        return self._all

    @property
    def beside(self) -> list[str]:
        """What those after the first are: next, retiring."""
        return [name for name, *_ in self._seen[1:]]

    def find(self, kid: str) -> Authority | None:
        return next((one for one in self._all if one.kid == kid), None)

    def refresh(self) -> bool:
        """Whether they are others now. Raises ConfigurationError if they can't be read."""
        seen = self._look()
        if seen == self._seen:
            return False
        self._all, self._seen = self._read(), seen
        return True

    def _read(self) -> list[Authority]:
        beside = [name for name in _BESIDE if (self._folder / f"{name}.pem").exists()]
        signing = load_authority(self._folder, self._public_url)
        return [signing, *(read_pair(self._folder, name, self._public_url) for name in beside)]

    def _look(self) -> list[tuple[str, int, int]]:
        found = []
        for name in ("intermediate", *_BESIDE):
            file = self._folder / f"{name}.pem"
            if file.exists():
                status = file.stat()
                found.append((name, status.st_mtime_ns, status.st_ino))
        return found
