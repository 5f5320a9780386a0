"""Clocks that are wrong: of Python processes, by libfaketime, which each is started with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from tests.chaos.faults.fault import Fault

if TYPE_CHECKING:
    from tests.chaos.site import Site

RIGHT = "+0"


@dataclass
class WrongClock(Fault):
    """The wall clock of a service's processes leaps by so much, and back at the end."""

    name: ClassVar[str] = "clock"
    offset: str = "+1h"

    def begin(self, site: Site) -> None:
        set_clock(site.clock_file(self.target), self.offset)

    def end(self, site: Site) -> None:
        set_clock(site.clock_file(self.target), RIGHT)


def set_clock(file: Path, offset: str) -> None:
    """Whole or not at all: it is read at any moment."""
    draft = file.with_suffix(".draft")
    draft.write_text(f"{offset}\n")
    draft.replace(file)


def environment(library: Path, file: Path) -> dict[str, str]:
    """For a process whose clock can be set. Its monotonic clock stays right."""
    return {
        "LD_PRELOAD": str(library),
        "FAKETIME_TIMESTAMP_FILE": str(file),
        "FAKETIME_CACHE_DURATION": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_DONT_RESET": "1",
    }
