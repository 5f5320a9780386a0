"""Clocks that are wrong: of Python processes, by libfaketime.

Only a process that was started with another time has the library in it, and to that one its offset
never changes: libfaketime breaks `time.sleep` where it leaves the monotonic clock alone, and a
monotonic clock that leaps, or is below nought, is one that no machine has. So clocks go ahead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from tests.chaos.faults.fault import Fault

if TYPE_CHECKING:
    from tests.chaos.site import Site


@dataclass
class WrongClock(Fault):
    """A service dies and comes back on a machine whose clock is off by so much."""

    name: ClassVar[str] = "clock"
    offset: str = "+1h"
    _right: Mapping[str, str] | None = field(default=None, init=False)

    def begin(self, site: Site) -> None:
        child = site.child(self.target)
        self._right = child.environment
        library = str(site.tools.faketime)
        child.environment = {**self._right, "LD_PRELOAD": library, "FAKETIME": self.offset}
        child.kill()

    def end(self, site: Site) -> None:
        if self._right is not None:
            child = site.child(self.target)
            child.environment = self._right
            child.kill()
