"""Processes that are killed, stopped, or told to end."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from tests.chaos.faults.fault import Fault

if TYPE_CHECKING:
    from tests.chaos.keeper import Held
    from tests.chaos.site import Site

ROLLED = ("main-1", "main-2", "worker-1", "worker-2", "proxy-1", "proxy-2")


class Kill(Fault):
    """SIGKILL to all of a service or a store at once, as if its machine were gone."""

    name: ClassVar[str] = "kill"
    _holds: Held | None = None

    def begin(self, site: Site) -> None:
        self._holds = site.keeper.hold(self.target)
        site.child(self.target).kill()

    def end(self, _site: Site) -> None:
        if self._holds is not None:
            self._holds.let_go()


@dataclass
class KillChild(Fault):
    """SIGKILL to one process of a service: its supervisor sees to the next."""

    name: ClassVar[str] = "kill-child"
    chance: float = 0.0

    def begin(self, site: Site) -> None:
        pid = _one_of(site.processes(self.target)[1:], self.chance)
        if pid is not None:
            _signal(pid, signal.SIGKILL)


class KillLeader(Fault):
    """SIGKILL to a service's supervisor: its children have to notice, and end."""

    name: ClassVar[str] = "kill-leader"

    def begin(self, site: Site) -> None:
        _signal(site.child(self.target).pid, signal.SIGKILL)


class Freeze(Fault):
    """SIGSTOP to all of a service or a store: connections stay, nothing is answered."""

    name: ClassVar[str] = "freeze"
    _pids: Sequence[int] = ()

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


@dataclass
class FreezeChild(Fault):
    """SIGSTOP to one process of a service; its supervisor may find it stuck, and kill it."""

    name: ClassVar[str] = "freeze-child"
    chance: float = 0.0
    _pid: int | None = field(default=None, init=False)

    def begin(self, site: Site) -> None:
        self._pid = _one_of(site.processes(self.target)[1:], self.chance)
        if self._pid is not None:
            _signal(self._pid, signal.SIGSTOP)

    def end(self, _site: Site) -> None:
        if self._pid is not None:
            _signal(self._pid, signal.SIGCONT)


class Roll(Fault):
    """SIGTERM to each service in turn, the next when the last one is ready again."""

    name: ClassVar[str] = "rolling-restart"
    _thread: threading.Thread | None = None

    def holds(self) -> set[str]:
        return set(ROLLED)

    def begin(self, site: Site) -> None:
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._roll, args=(site,), name=self.name)
        self._thread.start()

    def end(self, _site: Site) -> None:
        if self._thread is not None:
            self._over.set()
            self._thread.join()

    def _roll(self, site: Site) -> None:
        for name in ROLLED:
            if self._over.is_set():
                return
            leader = site.child(name).pid
            _signal(leader, signal.SIGTERM)
            self._wait(lambda leader=leader, name=name: site.child(name).pid != leader)  # type: ignore[misc]
            self._wait(lambda name=name: site.missing(name) is None)  # type: ignore[misc]

    def _wait(self, condition: Callable[[], bool]) -> None:
        while not (condition() or self._over.wait(0.1)):
            pass


def _one_of(pids: Sequence[int], chance: float) -> int | None:
    return pids[int(chance * len(pids))] if pids else None
