"""Follows log files that grow: gives their lines, in the order of time, as they come."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple


class Line(NamedTuple):
    time: str
    name: str
    text: str


class Follower:
    """A reader that goes on in several files; what one call finds is sorted by time."""

    def __init__(self, files: Mapping[str, Path], from_end: bool) -> None:
        self._files = files
        self._read = {name: _size(file) if from_end else 0 for name, file in files.items()}

    def new_lines(self) -> list[Line]:
        """Return each whole line that is new."""
        found = [line for name in self._files for line in self._of(name)]
        return sorted(found, key=lambda line: line.time)

    def _of(self, name: str) -> Iterator[Line]:
        """Yield the new lines of one file; a line that tells no time, such as a traceback's, stays
        with the last."""
        time = ""
        for text in self._read_on(name).splitlines():
            time = text.partition('"ts": "')[2][:24] or time
            yield Line(time, name, text)

    def _read_on(self, name: str) -> str:
        file = self._files[name]
        if _size(file) < self._read[name]:  # begun anew
            self._read[name] = 0
        if _size(file) == self._read[name]:
            return ""
        with file.open("rb") as stream:
            stream.seek(self._read[name])
            whole, newline, _ = stream.read().rpartition(b"\n")
        self._read[name] += len(whole) + len(newline)
        return whole.decode(errors="replace")


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0
