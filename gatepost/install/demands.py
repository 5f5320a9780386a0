"""Checks what the machine must be and have before anything is changed, and tells all that is
missing at once."""

import os
import re
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

from gatepost.install.machine import PATH, Machine
from gatepost.install.placing import CURRENT, FOLDER, version_at
from gatepost.install.services import version
from gatepost.install.steps import Failure
from gatepost.room import free_at

SYSTEMD_LEAST, PYTHON_LEAST, REDIS_LEAST, MARIADB_LEAST = 252, (3, 11), (7, 0), (10, 11)
PROGRAMS = {
    "mariadb": "mariadb-client",
    "mariadbd": "mariadb-server",
    "redis-server": "redis-server",
    "redis-check-aof": "redis-tools",
    "systemd-sysusers": "systemd",
    "systemd-tmpfiles": "systemd",
    "systemctl": "systemd",
}
"""The programs that are run, each with its package."""
SPARK = {"java": "openjdk-17-jre-headless"}
DRIVER, DRIVER_PACKAGE = "/usr/share/java/mariadb-java-client.jar", "libmariadb-java"
MEGABYTES, MEGABYTES_WITH_SPARK = 500, 2000
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")
_VERSION = re.compile(r"(?:v=|Distrib |Ver |from )(\d+)\.(\d+)")


def check(machine: Machine, *, analytics: bool) -> None:
    """Check the machine; raise one Failure with all that is wrong."""
    wrong = [
        *_system(machine),
        *_programs(machine, analytics=analytics),
        *_room(machine, analytics=analytics),
    ]
    wrong += [] if wrong else [*_versions(machine), *_another_redis(machine), *_by_hand(machine)]
    if wrong:
        raise Failure("Nothing was changed. This machine isn't ready:\n  " + "\n  ".join(wrong))


def root_alone() -> None:
    if os.geteuid() != 0:
        raise Failure("Only root can do this: run it with sudo, or as root.")


def host(given: str | None, *, is_new: bool) -> str:
    """Return the machine's name for others; it goes into certificates, links and settings."""
    name = given or socket.getfqdn()
    if not _HOST.fullmatch(name):
        raise Failure(f"{name!r} is no name of a machine.")
    if is_new and given is None and ("." not in name or name.startswith("localhost")):
        raise Failure(f"Others don't reach this machine as {name}. Say how: --host NAME")
    return name


def _system(machine: Machine) -> Iterator[str]:
    try:
        text = machine.path("/etc/os-release").read_text()
    except OSError:
        text = ""
    fields = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    families = (fields.get("ID", "") + " " + fields.get("ID_LIKE", "")).replace('"', "").split()
    if not {"debian", "ubuntu"} & set(families):
        name = fields.get("PRETTY_NAME", "no /etc/os-release").strip('"')
        yield f"it is no Debian or Ubuntu ({name}): see docs/running.md, by hand"
    if not machine.live and machine.root == Path("/"):
        yield "systemd doesn't run here: it can be installed into another root folder (--root)"


def _programs(machine: Machine, *, analytics: bool) -> Iterator[str]:
    needed = {**PROGRAMS, **(SPARK if analytics else {})}
    missing = {package for program, package in needed.items() if not _find(machine, program)}
    if not machine.path("/usr/bin/python3").exists():
        missing |= {"python3"}
    if machine.call("/usr/bin/python3", "-c", "import ensurepip, venv").returncode != 0:
        missing |= {"python3-venv"}
    if analytics and not machine.path(DRIVER).exists():
        missing |= {DRIVER_PACKAGE}
    if missing:
        packages = " ".join(sorted(missing))
        yield f"packages are missing: apt-get install --no-install-recommends {packages}"


def _find(machine: Machine, program: str) -> bool:
    folders = os.pathsep.join(str(machine.path(folder)) for folder in PATH.split(":"))
    if machine.root == Path("/"):
        return shutil.which(program, path=PATH) is not None
    return any(os.path.lexists(Path(folder) / program) for folder in folders.split(os.pathsep))


def _room(machine: Machine, *, analytics: bool) -> Iterator[str]:
    wanted = MEGABYTES_WITH_SPARK if analytics else MEGABYTES
    free = free_at(machine.path(FOLDER)) // 1_000_000
    if free < wanted:
        yield f"{FOLDER} has {free} MB left, and a release wants {wanted}: make room, or mount more"


def _versions(machine: Machine) -> Iterator[str]:
    said = machine.run("/usr/bin/python3", "-c", "import sys; print(*sys.version_info[:2])")
    if (found := tuple(map(int, said.split()))) < PYTHON_LEAST:
        yield f"its Python is {_dotted(found)}, and {_dotted(PYTHON_LEAST)} or later is needed"
    if (number := version(machine)) < SYSTEMD_LEAST:
        yield f"its systemd is {number}, and {SYSTEMD_LEAST} or later is needed"
    for program, least in (("redis-server", REDIS_LEAST), ("mariadbd", MARIADB_LEAST)):
        match = _VERSION.search(machine.run(program, "--version"))
        numbers = (int(match[1]), int(match[2])) if match else (0, 0)
        if numbers < least:
            yield f"its {program} is {_dotted(numbers)}, and {_dotted(least)} or later is needed"


def _another_redis(machine: Machine) -> Iterator[str]:
    """Yield a complaint if the package's own Redis is enabled: it has our port. It may be
    somebody's, so we don't turn it off."""
    links = machine.path("/etc/systemd/system").glob("*.wants/redis-server.service")
    if any(links) and version_at(machine, CURRENT) is None:
        yield (
            "the package's own Redis is enabled, and ours needs its port. If nothing else uses it:"
            " systemctl disable --now redis-server"
        )


def _by_hand(machine: Machine) -> Iterator[str]:
    current = machine.path(CURRENT)
    if current.exists() and not current.is_symlink():
        yield f"{CURRENT} was put there by hand, and must be a link: mv {CURRENT} {FOLDER}/by-hand"


def _dotted(numbers: tuple[int, ...]) -> str:
    return ".".join(map(str, numbers))
