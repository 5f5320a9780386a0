"""Asks systemd about our units. Where it doesn't run there is nothing to ask."""

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

RUNS = Path("/run/systemd/system")
"""The folder that is there where systemd is the first process (sd_booted(3))."""
SECONDS = 5.0
SHOWN = ("Id", "ActiveState", "SubState", "Result", "UnitFileState", "NRestarts", "StatusText")


@dataclass(frozen=True)
class Systemd:
    program: str

    @classmethod
    def find(cls) -> Self | None:
        program = shutil.which("systemctl")
        return cls(program) if program is not None and RUNS.is_dir() else None

    @cached_property
    def units(self) -> dict[str, Mapping[str, str]]:
        """Our units by name, with the values that SHOWN lists: both loaded ones, and those that
        only lie there, such as a timer that is off."""
        lines = self._ask("list-unit-files", "gatepost*", "--no-legend", "--plain").splitlines()
        files = [line.split()[0] for line in lines if line.startswith("gatepost")]
        names = [name for name in files if "@." not in name]
        said = self._ask("show", "gatepost*", *names, "--all", "--property", ",".join(SHOWN))
        return units_of(said)

    def instances(self, service: str) -> list[int]:
        """Return the numbers of a template's instances that are loaded and wanted: 1, 2 …"""
        prefix = f"gatepost-{service.replace('_', '-')}@"
        names = [name for name, unit in self.units.items() if is_wanted(unit)]
        numbers = [
            name.removeprefix(prefix).removesuffix(".service")
            for name in names
            if name.startswith(prefix) and name.endswith(".service")
        ]
        return sorted(int(number) for number in numbers if number.isdigit())

    def wants(self, service: str) -> bool:
        """Return whether a service without instances is to run here."""
        unit = self.units.get(f"gatepost-{service.replace('_', '-')}.service")
        return unit is not None and is_wanted(unit)

    def time_is_kept(self) -> bool | None:
        """Return whether NTP keeps the kernel's clock; None if nobody can say."""
        program = shutil.which("timedatectl")
        if program is None:
            return None
        said = _run([program, "show", "--property=NTPSynchronized", "--value"]).strip()
        return {"yes": True, "no": False}.get(said)

    def _ask(self, *arguments: str) -> str:
        return _run([self.program, "--no-pager", *arguments])


def units_of(said: str) -> dict[str, Mapping[str, str]]:
    """Return the units in the output of `systemctl show`, which has a paragraph for each."""
    found: dict[str, Mapping[str, str]] = {}
    for paragraph in said.strip().split("\n\n"):
        unit = dict(line.partition("=")[::2] for line in paragraph.splitlines())
        if name := unit.pop("Id", ""):
            found[name] = unit
    return found


def is_wanted(unit: Mapping[str, str]) -> bool:
    return unit["UnitFileState"] == "enabled" or unit["ActiveState"] != "inactive"


def _run(command: list[str]) -> str:
    """Return what the command prints; nothing if it fails."""
    try:
        ran = subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS, check=False, env={}
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return ran.stdout if ran.returncode == 0 else ""
