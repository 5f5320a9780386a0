"""What an operator, or a client, does while messages are under way, by the commands for it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Collection
from typing import TYPE_CHECKING, ClassVar

from gatepost.cli.failure import EXIT_OF_KIND
from infra.dev.seed import DOMAIN
from infra.dev.steps import Failure, last_words
from tests.chaos.faults.fault import Fault
from tests.chaos.services import CLIENTS

if TYPE_CHECKING:
    from tests.chaos.site import Site

END_SECONDS = 60.0
_DONE = {0, EXIT_OF_KIND["unheard"]}
"""In the ledger; if Redis wasn't told, a main server tells it."""
_NOT_FOUND = EXIT_OF_KIND["not-found"]
"""Nothing of theirs is as it would have to be: a try before has done it, or nothing was to do."""
_LEDGER = {"mariadb", "disk", "main-1>mariadb"}
"""What there must be for an operator's command."""
Command = subprocess.Popen[bytes]
_GATEPOST = "from gatepost.cli.main import main; main()"


class RotateKey(Fault):
    """`target` is which: master, sealing or number-mac. Another fault may interrupt it."""

    name: ClassVar[str] = "rotate-key"
    _command: Command | None = None

    def holds(self) -> set[str]:
        return {"keys"}

    def begin(self, site: Site) -> None:
        self._command = _start(site, "keys", "rotate", self.target)

    def end(self, site: Site) -> None:
        if self._command is not None:
            site.journal.note("keys rotated", self.target, code=_end(self._command))


class HoldCertificate(Fault):
    """A service's certificate is refused by everybody, until it is released.

    Nothing else befalls the ledger meanwhile: an operator wouldn't rest before it is released.
    """

    name: ClassVar[str] = "certificate-held"
    _command: Command | None = None

    def holds(self) -> set[str]:
        return {self.target, *_LEDGER}

    def begin(self, site: Site) -> None:
        self._command = _start(site, "cert", "hold", *self._which, "--yes")

    def end(self, site: Site) -> None:
        if self._command is None:
            return
        held = _end(self._command)
        released = _end(_start(site, "cert", "release", *self._which))
        if released not in (*_DONE, _NOT_FOUND):
            raise Failure(f"it is not released: exit code {released}, {_last_words(site)}")
        site.journal.note("certificate held and released", self.target, code=held, end=released)

    @property
    def _which(self) -> list[str]:
        return [f"gatepost:{self.target}", "--role", self.target.partition("-")[0]]


class RevokeCertificate(Fault):
    """A client is out, for good. It lasts until the operator has been told that it is done."""

    name: ClassVar[str] = "revoke"
    _command: Command | None = None
    _done: Collection[int] = _DONE

    def holds(self) -> set[str]:
        return {self.target, *_LEDGER}

    def begin(self, site: Site) -> None:
        self._command = self._revoke(site)

    def end(self, site: Site) -> None:
        if self._command is not None and (code := _end(self._command)) not in self._done:
            self._done = {*_DONE, _NOT_FOUND}  # the try before may have done it, unheard
            self._command = self._revoke(site)
            raise Failure(f"it is not revoked yet: exit code {code}, {_last_words(site)}")

    def _revoke(self, site: Site) -> Command:
        return _start(site, "cert", "revoke", f"{DOMAIN}:{self.target}", "--yes")


class RenewCertificate(Fault):
    """A client has its certificate renewed through a proxy, or a service those that it has; and
    goes on with the new ones. Anything may befall them meanwhile; in the end it is killed.
    """

    name: ClassVar[str] = "renew"
    _command: Command | None = None

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
        if self._command is None:
            return
        code = self._command.poll()
        if code is None:
            self._command.kill()
            code = self._command.wait()
        site.journal.note("certificate renewed", self.target, code=code)


def _start(site: Site, *arguments: str) -> Command:
    """On the machine of the first main server."""
    return _run(site, *arguments, "--config", str(site.place.config / "main-1.yaml"))


def _run(site: Site, *arguments: str) -> Command:
    with site.place.log("operator").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-c", _GATEPOST, *arguments],
            cwd=site.place.folder,
            env=site.environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )


def _end(command: Command) -> int:
    try:
        return command.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        command.kill()
        return command.wait()


def _last_words(site: Site) -> str:
    return last_words(site.place.log("operator").read_text(errors="replace"), 2)
