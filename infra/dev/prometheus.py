"""Finds Prometheus and what goes with it: the machine's own, or the distribution's, unpacked."""

import shutil
from enum import Enum
from pathlib import Path

from infra.dev import apt
from infra.dev.paths import ENGINES
from infra.dev.steps import Failure, step


class Program(Enum):
    """A program, and the package that it is in."""

    PROMETHEUS = "prometheus", "prometheus"
    PROMTOOL = "promtool", "prometheus"
    AMTOOL = "amtool", "prometheus-alertmanager"
    NODE_EXPORTER = "prometheus-node-exporter", "prometheus-node-exporter"


def find(program: Program, folder: Path = ENGINES) -> Path:
    name, package = program.value
    if found := shutil.which(name):
        return Path(found)
    missing = f"There is no {name} on this machine, and none could be unpacked. Install {package}."
    place = folder / package
    if not place.exists():
        if not apt.available():
            raise Failure(missing)
        try:
            with step(f"unpacking {package}"):
                apt.unpack([package], place)
        except Failure as failure:
            raise Failure(f"{failure}\n{missing}") from None
    return place / "usr" / "bin" / name
