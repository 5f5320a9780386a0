"""What an operator, or a client, does while messages are under way, by the commands for it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, ClassVar

from gatepost.cli.failure import EXIT_OF_KIND
from infra.dev.seed import DOMAIN
from infra.dev.steps import Failure
from tests.chaos.faults.fault import Fault
from tests.chaos.services import CLIENTS

if TYPE_CHECKING:
    from tests.chaos.site import Site

END_SECONDS = 30.0
_DONE = {0, EXIT_OF_KIND["unheard"]}
"""In the ledger; if Redis wasn't told, a main server tells it."""
_LEDGER = {"mariadb", "disk", "main-1>mariadb"}
"""What there must be for an operator's command."""
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
        return {self.target, *_LEDGER}

    def begin(self, site: Site) -> None:
        self._command = _start(site, "cert", "hold", *self._which, "--yes")

    def end(self, site: Site) -> None:
        held = _end(self._command)
        released = _end(_start(site, "cert", "release", *self._which))
        if released not in _DONE:
            said = site.place.log("operator").read_text()[-2000:]
            raise Failure(f"{self.target}'s certificate can't be released:\n{said}")
        site.journal.note("certificate held and released", self.target, code=held)

    @property
    def _which(self) -> list[str]:
        return [f"gatepost:{self.target}", "--role", self.target.partition("-")[0]]


class RevokeCertificate(Fault):
    """A client is out, for good. It lasts until the operator has been told that it is done."""

    name: ClassVar[str] = "revoke"

    def holds(self) -> set[str]:
        return {self.target, *_LEDGER}

    def begin(self, site: Site) -> None:
        self._command = self._revoke(site)

    def end(self, site: Site) -> None:
        done = _DONE
        while (code := _end(self._command)) not in done:
            site.journal.note("not revoked yet", self.target, code=code)
            done = {*_DONE, EXIT_OF_KIND["not-found"]}  # the try before may have done it, unheard
            self._command = self._revoke(site)

    def _revoke(self, site: Site) -> subprocess.Popen[bytes]:
        return _start(site, "cert", "revoke", f"{DOMAIN}:{self.target}", "--yes")


class RenewCertificate(Fault):
    """A client has its certificate renewed through a proxy, or a service those that it has; and
    goes on with the new ones. Anything may befall them meanwhile; in the end it is killed.
    """

    name: ClassVar[str] = "renew"

    def holds(self) -> set[str]:
        return {f"renewal of {self.target}"}

    def begin(self, site: Site) -> None:
        if self.target in site.services:
            whose = ["--config", str(site.place.config / f"{self.target}.yaml")]
        else:
            whose = self._client(site)
        self._command = _run(site, "cert", "renew", *whose)

    def _client(self, site: Site) -> list[str]:
        about = json.loads((site.place.folder / "site.json").read_text())
        gate = about["proxies"][f"proxy-{1 + CLIENTS.index(self.target) % 2}"]
        mine = about["clients"][self.target]
        where = ["--url", f"https://{gate['host']}:{gate['port']}", "--ca", about["ca"]]
        return [*where, "--cert", mine["cert"], "--key", mine["key"]]

    def end(self, site: Site) -> None:
        code = self._command.poll()
        if code is None:
            self._command.kill()
            code = self._command.wait()
        site.journal.note("certificate renewed", self.target, code=code)


def _start(site: Site, *arguments: str) -> subprocess.Popen[bytes]:
    """On the machine of the first main server."""
    return _run(site, *arguments, "--config", str(site.place.config / "main-1.yaml"))


def _run(site: Site, *arguments: str) -> subprocess.Popen[bytes]:
    with site.place.log("operator").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-c", _GATEPOST, *arguments],
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
