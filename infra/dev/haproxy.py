"""Finds haproxy, the load balancer that infra/haproxy.cfg is for: the machine's, or the
distribution's, unpacked."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from infra.dev import apt
from infra.dev.engines.find import SYSTEM_FOLDERS, clean_environment, libraries_of
from infra.dev.paths import ENGINES
from infra.dev.steps import Failure, step

PACKAGE, PROGRAM = "haproxy", Path("usr/sbin/haproxy")
NO_HAPROXY = "There is no haproxy on this machine, and none could be unpacked. Install haproxy."


@dataclass(frozen=True)
class Haproxy:
    program: Path
    environment: Mapping[str, str]


def find_haproxy(folder: Path = ENGINES) -> Haproxy:
    path = os.pathsep.join([os.environ.get("PATH", ""), *SYSTEM_FOLDERS])
    if program := shutil.which(PACKAGE, path=path):
        return Haproxy(Path(program), clean_environment())
    place = folder / PACKAGE
    if not place.exists():
        if not apt.available():
            raise Failure(NO_HAPROXY)
        try:
            with step(f"unpacking {PACKAGE}"):
                apt.unpack([PACKAGE], place)
        except Failure as failure:
            raise Failure(f"{failure}\n{NO_HAPROXY}") from None
    where = {"LD_LIBRARY_PATH": libraries_of(place)}
    return Haproxy(place / PROGRAM, clean_environment() | where)
