"""Which faults befall a run, and when: all of it by the seed, so that a run can be had again.

Each fault is played by a thread of its own, for what one waits for may be another's end: a change
of a table waits for the transaction of a server that is frozen, and stays so until that is over.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.chaos.faults.fault import Fault
from tests.chaos.persisting import NotDone, persist

if TYPE_CHECKING:
    from tests.chaos.site import Site

END_SECONDS = 180.0
"""For the end of a fault: a starved machine takes a minute for what otherwise takes a second."""


@dataclass(order=True)
class Planned:
    """A fault, and the second of the run in which it begins."""

    at: float
    fault: Fault = field(compare=False)


@dataclass
class Schedule:
    """Plays what is planned. No two faults that hold the same overlap: where one is late, the other
    waits for its end."""

    site: Site
    plan: list[Planned]
    patience: float = END_SECONDS
    _holds: dict[str, threading.Lock] = field(default_factory=dict)

    def play(self) -> int:
        """Returns when all has ended, or has had its time: how many faults there were."""
        started, threads = time.monotonic(), []
        for one in sorted(self.plan):
            time.sleep(max(0.0, started + one.at - time.monotonic()))
            thread = threading.Thread(target=self._befall, args=(one.fault,), daemon=True)
            thread.start()
            threads.append((thread, one.fault))
        longest = max((one.fault.seconds for one in self.plan), default=0.0)
        deadline = time.monotonic() + longest + 2 * self.patience
        for thread, fault in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
            if thread.is_alive():
                self.site.journal.undone(fault.name, fault.target, "it does not come to its end")
        return sum(one.fault.failed is None for one in self.plan)

    def _befall(self, fault: Fault) -> None:
        with self._held(fault):
            over = time.monotonic() + fault.seconds
            self.begin(fault)
            time.sleep(max(0.0, over - time.monotonic()))
            self.end(fault)

    @contextmanager
    def _held(self, fault: Fault) -> Iterator[None]:
        """In the same order by everybody, so that no two wait for each other."""
        with ExitStack() as stack:
            for name in sorted(fault.holds()):
                stack.enter_context(self._holds.setdefault(name, threading.Lock()))
            yield

    def begin(self, fault: Fault) -> None:
        self.site.journal.begin(fault.name, fault.target, destroyed=fault.destroys)
        try:
            fault.begin(self.site)
        except Exception as error:  # what the harness can't do is said, and the run goes on
            fault.failed = f"{type(error).__name__}: {error}"
            self.site.journal.note("fault failed", fault.target, fault=fault.name, why=fault.failed)

    def end(self, fault: Fault) -> None:
        """Also of one that failed half-way. What can't be ended in its time is named, lasts until
        the run's end, and turns the verdict red; the run goes on."""
        journal = self.site.journal

        def told(number: int, why: str) -> None:
            journal.note("end failed", fault.target, fault=fault.name, number=number, why=why)

        try:
            persist("its end", lambda: fault.end(self.site), self.patience, told=told)
        except NotDone as error:
            journal.undone(fault.name, fault.target, str(error))
        else:
            journal.end(fault.name, fault.target)
