"""Which faults befall a run, and when: all of it by the seed, so that a run can be had again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.chaos.faults.fault import Fault

if TYPE_CHECKING:
    from tests.chaos.site import Site


@dataclass(order=True)
class Planned:
    """A fault, and the second of the run in which it begins."""

    at: float
    fault: Fault = field(compare=False)


@dataclass
class Schedule:
    """Plays what is planned, in a thread; faults that overlap end in the order of their times."""

    site: Site
    plan: list[Planned]
    stop: threading.Event = field(default_factory=threading.Event)

    def play(self) -> int:
        """Returns when all has ended: how many faults there were."""
        started = time.monotonic()
        for at, _, act in sorted(self._moments(), key=lambda one: one[:2]):
            self.stop.wait(max(0.0, started + at - time.monotonic()))
            act()
        return sum(one.fault.failed is None for one in self.plan)

    def _moments(self) -> Iterable[tuple[float, int, Callable[[], None]]]:
        for number, one in enumerate(self.plan):
            fault = one.fault
            yield one.at, number, lambda fault=fault: self.begin(fault)  # type: ignore[misc]
            over = one.at + fault.seconds
            yield over, number, lambda fault=fault: self.end(fault)  # type: ignore[misc]

    def begin(self, fault: Fault) -> None:
        """After a stop nothing more begins; what has begun is ended."""
        if self.stop.is_set():
            fault.failed = "the run was stopped"
            return
        about: dict[str, Any] = {"fault": fault.name, "target": fault.target}
        if fault.destroys:
            about["destroyed"] = True
        self.site.journal.write("begin", **about)
        try:
            fault.begin(self.site)
        except Exception as error:  # what the harness can't do is said, and the run goes on
            fault.failed = f"{type(error).__name__}: {error}"
            self.site.journal.write("skip", **about, why=fault.failed)

    def end(self, fault: Fault) -> None:
        if fault.failed is None:
            fault.end(self.site)
            self.site.journal.write("end", fault=fault.name, target=fault.target)
