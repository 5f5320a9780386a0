"""Which faults befall a run, and when: all of it by the seed, so that a run can be had again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

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
    """Plays what is planned: what begins and ends, in the order of the times."""

    site: Site
    plan: list[Planned]

    def play(self) -> int:
        """Returns when all has ended: how many faults there were."""
        started = time.monotonic()
        for at, _, act in sorted(self._moments(), key=lambda one: one[:2]):
            time.sleep(max(0.0, started + at - time.monotonic()))
            act()
        return sum(one.fault.failed is None for one in self.plan)

    def _moments(self) -> Iterable[tuple[float, int, Callable[[], None]]]:
        for number, one in enumerate(self.plan):
            fault = one.fault
            yield one.at, number, lambda fault=fault: self.begin(fault)  # type: ignore[misc]
            over = one.at + fault.seconds
            yield over, number, lambda fault=fault: self.end(fault)  # type: ignore[misc]

    def begin(self, fault: Fault) -> None:
        self.site.journal.begin(fault.name, fault.target, destroyed=fault.destroys)
        try:
            fault.begin(self.site)
        except Exception as error:  # what the harness can't do is said, and the run goes on
            fault.failed = f"{type(error).__name__}: {error}"
            self.site.journal.note("fault failed", fault.target, fault=fault.name, why=fault.failed)

    def end(self, fault: Fault) -> None:
        """Also of one that failed half-way: its end undoes what it can."""
        try:
            fault.end(self.site)
        except Exception:
            if fault.failed is None:
                raise
        self.site.journal.end(fault.name, fault.target)
