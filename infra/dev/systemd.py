"""Finds systemd's tools for the tests: the machine's own, or the distribution's unpacked by us.

They look at units, users and folders in a tree of their own; nothing is started by them.
"""

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from infra.dev import apt
from infra.dev.engines.find import clean_environment, libraries_of
from infra.dev.paths import ENGINES
from infra.dev.steps import Failure, run, step

LEAST = 252
"""The least version that will do: Debian 12's; `security --offline` came with 250."""
TOOLS = ("systemd-analyze", "systemd-sysusers", "systemd-tmpfiles", "systemctl")
NO_SYSTEMD = """\
There are no tools of systemd 252 or later on this machine, and none could be unpacked.
The tests look at our units with them. Install them: apt-get install systemd"""
_VERSION = re.compile(r"^systemd (\d+)")


@dataclass(frozen=True)
class Systemd:
    """The folder of the tools, and the environment that they run in."""

    folder: Path
    version: int
    environment: Mapping[str, str] = field(repr=False)

    def run(self, tool: str, *arguments: str) -> str:
        """Return what the tool prints; raise Failure with all that it complains of."""
        return self._run(f"systemd-{tool}", arguments)

    def control(self, root: Path, *arguments: str) -> str:
        """Run systemctl on the units of a tree; return what it prints."""
        return self._run("systemctl", (f"--root={root}", *arguments))

    def _run(self, program: str, arguments: Sequence[str]) -> str:
        command = [str(self.folder / program), *arguments]
        return run(program, command, environment=self.environment, lines=None)


def find_systemd(folder: Path = ENGINES / "systemd") -> Systemd:
    try:
        found = _on_this_machine() or _unpacked(folder)
    except Failure as failure:
        raise Failure(f"{failure}\n{NO_SYSTEMD}") from None
    if found is None:
        raise Failure(NO_SYSTEMD)
    return found


def _on_this_machine() -> Systemd | None:
    program = shutil.which(TOOLS[0])
    return _systemd(Path(program).parent, {}) if program else None


def _unpacked(folder: Path) -> Systemd | None:
    if not folder.exists():
        if not apt.available():
            return None
        with step("unpacking systemd"):
            apt.unpack(["systemd"], folder)
    where = {"LD_LIBRARY_PATH": libraries_of(folder)}
    places = (folder / "usr" / "bin", folder / "bin")
    found = (_systemd(place, where) for place in places)
    return next((one for one in found if one), None)


def _systemd(folder: Path, extra: Mapping[str, str]) -> Systemd | None:
    """Return the tools in the folder, if all are there and recent enough."""
    environment = {**clean_environment(), **extra}
    if not all((folder / tool).exists() for tool in TOOLS):
        return None
    ask = [str(folder / TOOLS[0]), "--version"]
    try:
        said = run("asking for the version", ask, environment=environment)
    except Failure:
        return None
    match = _VERSION.search(said)
    if match is None or int(match[1]) < LEAST:
        return None
    return Systemd(folder, int(match[1]), environment)
