"""Keys that change while messages are under way, by the command that an operator would use."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, ClassVar

from tests.chaos.faults.fault import Fault

if TYPE_CHECKING:
    from tests.chaos.site import Site

END_SECONDS = 30.0


class RotateKey(Fault):
    """`target` is which: master, sealing or number-mac. Another fault may interrupt it."""

    name: ClassVar[str] = "rotate-key"

    def holds(self) -> set[str]:
        return {"keys"}

    def begin(self, site: Site) -> None:
        config = site.place.config / "main-1.yaml"
        program = "from gatepost.cli.main import main; main()"
        arguments = ["keys", "rotate", self.target, "--config", str(config)]
        with site.place.log("keys").open("ab") as log:
            self._command = subprocess.Popen(
                [sys.executable, "-c", program, *arguments],
                cwd=site.place.folder,
                env=site.environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def end(self, site: Site) -> None:
        try:
            code = self._command.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._command.kill()
            code = self._command.wait()
        site.journal.note("keys rotated", self.target, code=code)
