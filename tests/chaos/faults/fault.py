"""What a fault is: something that begins, lasts and ends, and is written down in the journal."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from tests.chaos.site import Site


@dataclass
class Fault:
    """`target` is what it befalls. No two faults that hold the same overlap; all others may."""

    name: ClassVar[str]
    destroys: ClassVar[bool] = False
    """Whether data of Redis that was committed is gone with it."""

    target: str
    seconds: float
    failed: str | None = field(default=None, init=False)

    def holds(self) -> set[str]:
        return {self.target}

    def begin(self, site: Site) -> None:
        raise NotImplementedError

    def end(self, _site: Site) -> None:
        """Undoes whatever there is of it: also of one that failed as it began. Where this fails it
        is called again. Some need nothing: it mends by itself."""
