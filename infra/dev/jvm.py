"""Finds what Spark needs beside its package: a Java, and MariaDB's JDBC driver.

Java from the PATH, if it's recent enough; else the distribution's, unpacked by us. So is the
driver.
"""

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from infra.dev import apt
from infra.dev.paths import ENGINES
from infra.dev.steps import Failure, step

JAVA_LEAST = 17
JAVA_PACKAGES = ("openjdk-21-jre-headless", "openjdk-17-jre-headless")
DRIVER_PACKAGE, DRIVER = "libmariadb-java", Path("usr/share/java/mariadb-java-client.jar")
JDK_PACKAGES = ("openjdk-21-jdk-headless", "openjdk-17-jdk-headless")
NO_JDK = "There is no JDK 17 or later on this machine, and none could be unpacked. Install one."
NO_JAVA = "There is no Java 17 or later on this machine, and none could be unpacked. Install a JRE."
NO_DRIVER = "There is no MariaDB Connector/J on this machine. Install libmariadb-java."
_RELEASE = re.compile(r'^JAVA_VERSION="(\d+)', re.MULTILINE)


def find_java(folder: Path = ENGINES) -> Path:
    """Return a JAVA_HOME."""
    return _find(JAVA_PACKAGES, folder, "java") or _fail(NO_JAVA)


def find_jdk(folder: Path = ENGINES) -> Path:
    """Return a JAVA_HOME with a compiler, for programs that partners write."""
    return _find(JDK_PACKAGES, folder, "javac") or _fail(NO_JDK)


def _find(packages: Sequence[str], folder: Path, program: str) -> Path | None:
    """Return the home of a Java that has that program and is recent enough: here, or unpacked."""
    for home in _homes_here():
        if _has(home, program):
            return home
    for package in packages:
        place = folder / package
        try:
            _unpack(package, place)
        except Failure:
            continue  # another release of the distribution has another
        for home in place.glob("usr/lib/jvm/*/"):
            if _has(home, program):
                return home
    return None


def _has(home: Path, program: str) -> bool:
    return _version(home) >= JAVA_LEAST and (home / "bin" / program).exists()


def _fail(words: str) -> NoReturn:
    raise Failure(words)


def find_driver(folder: Path = ENGINES) -> Path:
    """Return the driver's jar, unpacked if need be."""
    place = driver_place(folder)
    if not place.exists():
        try:
            _unpack(DRIVER_PACKAGE, folder / DRIVER_PACKAGE)
        except Failure as failure:
            raise Failure(f"{failure}\n{NO_DRIVER}") from None
    return place


def driver_place(folder: Path = ENGINES) -> Path:
    """Return where the jar is, or will be once it is needed."""
    here = Path("/") / DRIVER
    return here if here.exists() else folder / DRIVER_PACKAGE / DRIVER


def _homes_here() -> list[Path]:
    """Return the homes by JAVA_HOME, then by the PATH: java is in the folder bin of its home."""
    named = os.environ.get("JAVA_HOME")
    program = shutil.which("java")
    found = [Path(program).resolve().parents[1]] if program else []
    return [*([Path(named)] if named else []), *found]


def _version(home: Path) -> int:
    """Return the version in the file `release` of a Java's home; 0 if it's no Java."""
    try:
        match = _RELEASE.search((home / "release").read_text())
    except OSError:
        return 0
    return int(match[1]) if match and (home / "bin" / "java").exists() else 0


def _unpack(package: str, place: Path) -> None:
    if place.exists():
        return
    if not apt.available():
        raise Failure(f"There is no apt here to get {package} with.")
    with step(f"unpacking {package}"):
        apt.unpack([package], place)
    _turn_links_inward(place)


def _turn_links_inward(place: Path) -> None:
    """Point links that name files of the root folder (Java's settings are in /etc) to ours."""
    for link in place.rglob("*"):
        if link.is_symlink() and (target := link.readlink()).is_absolute():
            inside = place / target.relative_to("/")
            if inside.exists():
                link.unlink()
                link.symlink_to(os.path.relpath(inside, link.parent))
