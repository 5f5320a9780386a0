"""Makes virtual environments, and installs into them by uv or, where uv can't be had, by pip.

Standard library only. The user's own pip configuration decides where packages come from; every file
is checked against the hashes of a lock.
"""

import ast
import os
import re
import sys
import sysconfig
import tempfile
import venv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from infra.dev import apt
from infra.dev.paths import BOOT, BUILD_CONSTRAINTS, CACHE, LOCKS, ROOT, VENV
from infra.dev.private import private_folder
from infra.dev.steps import Failure, run, step

WHEELS = Path("/usr/share/python-wheels")  # where distributions keep the wheel that venv would use
# uv's variables, by pip's names of the settings.
UV_NAMES = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "no-index": "UV_NO_INDEX",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
    "client-cert": "SSL_CLIENT_CERT",
    "proxy": "ALL_PROXY",
    "timeout": "UV_HTTP_TIMEOUT",
}


@dataclass(frozen=True)
class Installer:
    """A program that makes `var/venv` hold what a lock says, and nothing else if it can."""

    name: str
    environment: Mapping[str, str]
    sync_command: Sequence[str]
    install_command: Sequence[str]

    def sync(self, lock: Path) -> None:
        command = [*self.sync_command, str(lock)]
        self._run(lock.name, command)
        tidy_cache(self.environment)

    def install_project(self) -> None:
        arguments = ["--no-deps", "--no-build-isolation", "--editable", str(ROOT)]
        self._install("gatepost", arguments)
        for packages in VENV.glob("lib/python3*/site-packages"):
            point_relatively(packages, ROOT)

    def install_into(self, folder: Path, lock: Path) -> None:
        """Put the packages of a lock into a folder of their own: wholly or not."""
        private_folder(folder.parent)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".installing-") as name:
            arguments = ["--no-deps", "--require-hashes", "--target", f"{name}/root"]
            self._install(lock.name, [*arguments, "-r", str(lock)])
            (Path(name) / "root").rename(folder)

    def _install(self, what: str, arguments: Sequence[str]) -> None:
        self._run(what, [*self.install_command, *arguments])

    def _run(self, what: str, command: Sequence[str]) -> None:
        words = f"installing {what} by {self.name}"
        run(words, list(command), environment=self.environment, folder=ROOT)


def point_relatively(packages: Path, root: Path) -> None:
    """Make the pointers from the environment to the checkout name no folder above it: Python reads
    these files by the locale, and by that of C it doesn't start if an umlaut is in one."""
    for pointer in packages.glob("*.pth"):
        if pointer.read_bytes().strip() == os.fsencode(root):
            pointer.write_text(f"{os.path.relpath(root, packages)}\n", encoding="ascii")


def download(lock: Path, folder: Path) -> None:
    """Download all files that a lock may want, on whatever Python, and what builds those that come
    as sources: for a machine without a network, which has pip take them from there
    (PIP_FIND_LINKS)."""
    every = re.sub(r" ; .*? \\$", r" \\", lock.read_text(), flags=re.MULTILINE)
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "every.txt").write_text(every)
        command = [*_pip(VENV), "download", "--quiet", "--dest", str(folder)]
        locked = ["--no-deps", "--require-hashes", "-r", f"{name}/every.txt"]
        words = f"downloading what {lock.name} names"
        run(words, [*command, *locked], environment=_pip_environment(), folder=ROOT)
        built_by = ["-r", BUILD_CONSTRAINTS, "wheel"]
        run(words, [*command, *built_by], environment=_pip_environment(), folder=ROOT)


def installer() -> Installer:
    """Return uv, out of an environment of its own; pip if uv can't be had."""
    install = [*_pip(VENV), "install", "--quiet"]
    try:
        boot_environment()
    except Failure as failure:
        print(f"{failure}\nSo pip does what uv would do, only slower.")
        return Installer("pip", _pip_environment(), [*install, "--require-hashes", "-r"], install)
    uv = [str(BOOT / "bin" / "uv"), "pip"]
    options = ["--quiet", "--python", str(VENV / "bin" / "python")]
    sync, install = [*uv, "sync", *options, "--require-hashes"], [*uv, "install", *options]
    return Installer("uv", uv_environment(), sync, install)


def boot_environment() -> None:
    """Make the environment that holds uv, unless it's there."""
    lock = (LOCKS / "boot.txt").read_text()
    stamp = BOOT / "made-from.txt"
    if works(BOOT) and stamp.exists() and stamp.read_text() == lock:
        return
    with step("uv"):
        make_environment(BOOT)
        install = ["install", "--quiet", "--require-hashes", "-r", str(LOCKS / "boot.txt")]
        command = [*_pip(BOOT), *install]
        run("installing uv by pip", command, environment=_pip_environment(), folder=ROOT)
        stamp.write_text(lock)


def make_environment(folder: Path) -> None:
    venv.EnvBuilder(clear=True, symlinks=True, with_pip=False).create(folder)


def works(folder: Path) -> bool:
    """Return whether the environment's Python runs: not after its base was upgraded or removed."""
    python = folder / "bin" / "python"
    try:
        run("trying", [str(python), "-c", ""])
    except Failure:
        return False
    return True


def belongs_here(folder: Path) -> bool:
    """Return whether the environment was made at this place: a copied checkout's scripts name the
    other one."""
    return f" {folder}\n" in (folder / "pyvenv.cfg").read_text()


def uv_environment() -> dict[str, str]:
    """Return the environment for uv: the user's own, and what the user has told pip."""
    listing = run("reading pip's configuration", [*_pip(BOOT), "config", "list"])
    ours = {
        "UV_SYSTEM_CERTS": "1",
        "UV_PYTHON_DOWNLOADS": "never",
        "UV_CACHE_DIR": str(CACHE / "uv"),
        "UV_BUILD_CONSTRAINT": BUILD_CONSTRAINTS,
        # Take the best version of all indexes, as pip does. The hashes keep strangers out.
        "UV_INDEX_STRATEGY": "unsafe-best-match",
    }
    return ours | translate(listing) | os.environ


def tidy_cache(environment: Mapping[str, str]) -> None:
    """Prune uv's cache, which keeps each unpacking that it ever made of what comes as sources:
    PySpark's are 480 MB each. A cache that isn't ours is left alone."""
    if environment.get("UV_CACHE_DIR") == str(CACHE / "uv"):
        prune = [str(BOOT / "bin" / "uv"), "cache", "prune", "--quiet"]
        run("tidying uv's cache", prune, environment=environment)


def translate(listing: str) -> dict[str, str]:
    """Return what `pip config list` prints, as uv's variables; later sources win, as in pip."""
    found: dict[str, dict[str, str]] = {"global": {}, "install": {}, ":env:": {}}
    for line in listing.splitlines():
        name, _, value = line.partition("=")
        section, _, key = name.rpartition(".")
        key = key.replace("_", "-").removeprefix("default-")
        if section in found and key in UV_NAMES:
            found[section][UV_NAMES[key]] = " ".join(str(ast.literal_eval(value)).split())
    merged = found["global"] | found["install"] | found[":env:"]
    if "UV_FIND_LINKS" in merged:
        merged["UV_FIND_LINKS"] = merged["UV_FIND_LINKS"].replace(" ", ",")
    return merged


def _pip(environment: Path) -> list[str]:
    """Return pip as a command of that environment, run from a wheel: none needs to be installed."""
    return [str(environment / "bin" / "python"), str(pip_wheel() / "pip")]


def pip_wheel() -> Path:
    """Return pip's wheel, where Python or the distribution keeps it."""
    folders = [Path(sysconfig.get_path("stdlib")) / "ensurepip" / "_bundled", WHEELS]
    unpacked = CACHE / "python-wheels"
    if not _wheels(*folders) and not _wheels(unpacked / WHEELS.relative_to("/")):
        if not apt.available():
            raise Failure(
                f"{sys.executable} has neither pip nor ensurepip, and there is no apt here to get\n"
                "them with. Install your distribution's packages of pip and venv for Python 3."
            )
        try:
            with step("pip, which this Python lacks"):
                apt.unpack(["python3-pip-whl"], unpacked)
        except Failure as failure:
            raise Failure(f"{failure}\nInstall it: apt-get install python3-venv") from None
    return _wheels(*folders, unpacked / WHEELS.relative_to("/"))[0]


def _wheels(*folders: Path) -> list[Path]:
    return [wheel for folder in folders for wheel in sorted(folder.glob("pip-*.whl"))]


def _pip_environment() -> dict[str, str]:
    ours = {
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_CACHE_DIR": str(CACHE / "pip"),
        "PIP_CONSTRAINT": BUILD_CONSTRAINTS,  # of builds too, which newer ones call otherwise
        "PIP_BUILD_CONSTRAINT": BUILD_CONSTRAINTS,
    }
    return {**ours, **os.environ, "PIP_ROOT_USER_ACTION": "ignore", "PIP_USER": "0"}
