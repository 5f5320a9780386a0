"""What an operator does while messages are under way, by the commands that there are for it."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, ClassVar

from infra.dev.steps import Failure
from tests.chaos.faults.fault import Fault

if TYPE_CHECKING:
    from tests.chaos.site import Site

END_SECONDS = 30.0
_GATEPOST = "from gatepost.cli.main import main; main()"


class RotateKey(Fault):
    """`target` is which: master, sealing or number-mac. Another fault may interrupt it."""

    name: ClassVar[str] = "rotate-key"

    def holds(self) -> set[str]:
        return {"keys"}

    def begin(self, site: Site) -> None:
        self._command = _start(site, "keys", "rotate", self.target)

    def end(self, site: Site) -> None:
        code = _end(self._command)
        site.journal.note("keys rotated", self.target, code=code)


class HoldCertificate(Fault):
    """A service's certificate is refused by everybody, until it is released.

    Nothing else befalls the ledger meanwhile: an operator wouldn't rest before it is released.
    """

    name: ClassVar[str] = "certificate-held"

    def holds(self) -> set[str]:
        return {self.target, "mariadb", "disk", "main-1>mariadb"}

    def begin(self, site: Site) -> None:
        self._command = _start(site, "cert", "hold", *self._which, "--yes")

    def end(self, site: Site) -> None:
        held = _end(self._command)
        released = _end(_start(site, "cert", "release", *self._which))
        if released:
            said = site.place.log("operator").read_text()[-2000:]
            raise Failure(f"{self.target}'s certificate can't be released:\n{said}")
        site.journal.note("certificate held and released", self.target, code=held)

    @property
    def _which(self) -> list[str]:
        return [f"gatepost:{self.target}", "--role", self.target.partition("-")[0]]


def _start(site: Site, *arguments: str) -> subprocess.Popen[bytes]:
    config = str(site.place.config / "main-1.yaml")
    with site.place.log("operator").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-c", _GATEPOST, *arguments, "--config", config],
            cwd=site.place.folder,
            env=site.environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )


def _end(command: subprocess.Popen[bytes]) -> int:
    try:
        return command.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        command.kill()
        return command.wait()
