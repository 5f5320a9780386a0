"""Processes that are killed, stopped, or told to end."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from tests.chaos.faults.fault import Fault

if TYPE_CHECKING:
    from tests.chaos.site import Site


class Kill(Fault):
    """SIGKILL to all of a service or a store at once, as if its machine were gone."""

    name: ClassVar[str] = "kill"

    def begin(self, site: Site) -> None:
        site.keeper.hold(self.target)
        site.child(self.target).kill()

    def end(self, site: Site) -> None:
        site.keeper.let_go(self.target)


@dataclass
class KillChild(Fault):
    """SIGKILL to one process of a service: its supervisor sees to the next."""

    name: ClassVar[str] = "kill-child"
    chance: float = 0.0

    def begin(self, site: Site) -> None:
        if children := site.processes(self.target)[1:]:
            _signal(children[int(self.chance * len(children))], signal.SIGKILL)


class KillLeader(Fault):
    """SIGKILL to a service's supervisor: its children have to notice, and end."""

    name: ClassVar[str] = "kill-leader"

    def begin(self, site: Site) -> None:
        _signal(site.child(self.target).pid, signal.SIGKILL)


class Freeze(Fault):
    """SIGSTOP to all of a service or a store: connections stay, nothing is answered."""

    name: ClassVar[str] = "freeze"

    def begin(self, site: Site) -> None:
        self._pids = site.processes(self.target)
        for pid in self._pids:
            _signal(pid, signal.SIGSTOP)

    def end(self, _site: Site) -> None:
        for pid in self._pids:
            _signal(pid, signal.SIGCONT)


class Terminate(Fault):
    """SIGTERM, as at each deployment; another is started as soon as it has ended."""

    name: ClassVar[str] = "terminate"

    def begin(self, site: Site) -> None:
        _signal(site.child(self.target).pid, signal.SIGTERM)


def _signal(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
