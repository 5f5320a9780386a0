"""Finds this machine's processes, as /proc shows them: whose they are, which ports they hold.

What another user's processes hold, root alone sees.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

PROC = Path("/proc")
_LISTENING = "0A"


@dataclass(frozen=True, slots=True)
class Process:
    pid: int
    arguments: tuple[str, ...]

    @property
    def name(self) -> str:
        """The program's name, as `ps` shows it; without arguments, which say what they like."""
        return Path(self.arguments[0]).name if self.arguments else "?"


def all_processes() -> Iterator[Process]:
    for folder in PROC.iterdir():
        if folder.name.isdigit():
            try:
                line = (folder / "cmdline").read_bytes()
            except OSError:
                continue  # it has ended
            yield Process(int(folder.name), tuple(os.fsdecode(line).split("\0")[:-1]))


def of_service(name: str, file: Path) -> list[Process]:
    """Return the processes that run this service with these settings."""
    return [one for one in all_processes() if _runs(one, name) and _names(one, file)]


def core_limit(pid: int) -> str | None:
    """Return how large its core dump may be; None if the process has ended or may not be asked."""
    try:
        lines = (PROC / str(pid) / "limits").read_text().splitlines()
    except OSError:
        return None
    return next((line.split()[4] for line in lines if line.startswith("Max core file size")), None)


def listening(port: int) -> set[str]:
    """Return the sockets (their inodes) that listen on a port, on whatever address."""
    found = set()
    for table in ("tcp", "tcp6"):
        try:
            lines = (PROC / "net" / table).read_text().splitlines()[1:]
        except OSError:
            continue
        for fields in map(str.split, lines):
            if fields[3] == _LISTENING and int(fields[1].rpartition(":")[2], 16) == port:
                found.add(fields[9])
    return found


def holders(sockets: set[str]) -> list[Process]:
    """Return the processes that have any of these sockets open, as far as we may see."""
    wanted = {f"socket:[{inode}]" for inode in sockets}
    return [one for one in all_processes() if not wanted.isdisjoint(_open(one.pid))]


def _open(pid: int) -> Iterator[str]:
    try:
        for link in (PROC / str(pid) / "fd").iterdir():
            yield str(link.readlink())
    except OSError:
        return  # it has ended, or is somebody else's


def _runs(process: Process, name: str) -> bool:
    arguments = process.arguments
    return any(pair == ("-m", name) for pair in pairwise(arguments))


def _names(process: Process, file: Path) -> bool:
    """Return whether the process names the file. A relative name is meant from where the process
    is, which isn't ours to know."""
    given = process.arguments[process.arguments.index("-m") + 2 :]
    return any(os.path.realpath(one) == os.path.realpath(file) for one in given)
