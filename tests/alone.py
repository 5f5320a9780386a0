"""A machine of a partner's: an environment with what the client's wheel depends on, and no more.

What is needed is taken from the environment of the tests, by links; the wheel itself is put there
by pip, as a partner does.
"""

import os
import subprocess
import sys
import sysconfig
import zipfile
from email.parser import Parser
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement

from infra.dev.commands.build import build_client
from infra.dev.paths import ROOT
from infra.dev.python import pip_wheel


class Alone:
    """An environment, whose `pip` knows no other packages than those that are there."""

    def __init__(self, folder: Path) -> None:
        self.wheel = build_client(ROOT, folder)
        self._folder = folder / "environment"
        command = [sys.executable, "-m", "venv", "--without-pip", str(self._folder)]
        subprocess.run(command, check=True)
        self._link(needed_by(_requirements(self.wheel)))
        pip = self.bin / "pip"
        pip.write_text(f'#!/bin/sh\nexec "{self.python}" "{pip_wheel()}/pip" "$@"\n')
        pip.chmod(0o755)

    @property
    def bin(self) -> Path:
        return self._folder / "bin"

    @property
    def python(self) -> Path:
        return self.bin / "python"

    def environment(self, home: Path) -> dict[str, str]:
        return {
            "HOME": str(home),
            "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}",
            "PIP_NO_INDEX": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_ROOT_USER_ACTION": "ignore",
        }

    def install(self) -> None:
        """What the page tells a partner to do."""
        command = [str(self.bin / "pip"), "install", "--quiet", str(self.wheel)]
        subprocess.run(command, check=True, env=self.environment(self._folder))

    def _link(self, needed: dict[str, Distribution]) -> None:
        paths = {"base": str(self._folder), "platbase": str(self._folder)}
        there = Path(sysconfig.get_path("purelib", vars=paths))
        for one in needed.values():
            for file in one.files or ():
                top = file.parts[0]
                place = there / top
                if top not in ("..", "__pycache__") and not place.exists():
                    place.symlink_to(Path(str(one.locate_file(top))))


def needed_by(requirements: list[str]) -> dict[str, Distribution]:
    """The distributions that these want, and what those want in turn, by name."""
    found: dict[str, Distribution] = {}
    waiting = list(requirements)
    while waiting:
        requirement = Requirement(waiting.pop())
        marker = requirement.marker
        if requirement.name in found or (marker and not marker.evaluate({"extra": ""})):
            continue
        found[requirement.name] = distribution(requirement.name)
        waiting += found[requirement.name].requires or []
    return found


def _requirements(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as opened:
        (name,) = [one for one in opened.namelist() if one.endswith(".dist-info/METADATA")]
        metadata = Parser().parsestr(opened.read(name).decode())
    return metadata.get_all("Requires-Dist") or []
