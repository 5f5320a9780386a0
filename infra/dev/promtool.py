"""promtool, Prometheus's checker of alert rules: the machine's, or the distribution's, unpacked."""

import shutil
from pathlib import Path

from infra.dev import apt
from infra.dev.paths import ENGINES
from infra.dev.steps import Failure, step

PACKAGE, PROGRAM = "prometheus", Path("usr/bin/promtool")
NO_PROMTOOL = (
    "There is no promtool on this machine, and none could be unpacked. Install prometheus."
)


def find_promtool(folder: Path = ENGINES) -> Path:
    if program := shutil.which("promtool"):
        return Path(program)
    place = folder / PACKAGE
    if not place.exists():
        if not apt.available():
            raise Failure(NO_PROMTOOL)
        try:
            with step(f"unpacking {PACKAGE}"):
                apt.unpack([PACKAGE], place)
        except Failure as failure:
            raise Failure(f"{failure}\n{NO_PROMTOOL}") from None
    return place / PROGRAM
