"""Finds what makes a client of the API's documents in Python: openapi-python-client, in a folder of
its own, as a partner would have it.

It wants other versions than ours of what both use, and what it makes is run beside it, without our
packages. What makes one in TypeScript is npm's (infra.dev.node).
"""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from infra.dev.paths import ENGINES, LOCKS
from infra.dev.python import installer
from infra.dev.steps import step

LOCK = LOCKS / "clients.txt"


@dataclass(frozen=True)
class PythonMaker:
    """openapi-python-client, by the folder of its packages."""

    folder: Path

    def command(self, *arguments: str) -> Sequence[str]:
        """Return a command that runs our Python without our packages."""
        return [sys.executable, "-S", *arguments]

    def environment(self, *folders: Path) -> Mapping[str, str]:
        """Return an environment with its packages, and what else is in `folders`."""
        return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [self.folder, *folders]))}


def find_python_maker(folder: Path = ENGINES) -> PythonMaker:
    place = folder / f"clients-{sha256(LOCK.read_bytes()).hexdigest()[:16]}"
    if not place.exists():
        with step("openapi-python-client"):
            installer().install_into(place, LOCK)
    return PythonMaker(place)
