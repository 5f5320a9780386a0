"""Keeps children running: one that ends is started again, after a wait that grows."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from infra.dev.child import Child
from infra.dev.steps import Failure

FIRST_WAIT, LONGEST_WAIT = 0.1, 10.0
STEADY_AFTER = 10.0  # seconds; who lived that long is started again at once


def _waits() -> Iterator[float]:
    wait = FIRST_WAIT
    while True:
        yield wait
        wait = min(2 * wait, LONGEST_WAIT)


@dataclass
class Kept:
    """A child, how it is launched, and when it may be launched again."""

    child: Child
    launch: Callable[[], None]
    launched: float = 0.0
    due: float | None = None
    waits: Iterator[float] = field(default_factory=_waits)


class Keeper:
    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._kept: list[Kept] = []

    def launch(self, child: Child, launch: Callable[[], None]) -> None:
        """Start a child that is to be kept running."""
        launch()
        self._kept.append(Kept(child, launch, launched=time.monotonic()))

    def children(self) -> list[Child]:
        return [kept.child for kept in self._kept]

    def look_after(self) -> bool:
        """Look at all children once; return whether one was started again."""
        revived = [self._revive(kept) for kept in self._kept]
        return any(revived)

    def _revive(self, kept: Kept) -> bool:
        code = kept.child.exit_code()
        if code is None:
            return False
        now = time.monotonic()
        if kept.due is None:
            kept.child.kill()  # what it has left behind holds its ports
            if now - kept.launched > STEADY_AFTER:
                kept.waits = _waits()
            wait = next(kept.waits)
            kept.due = now + wait
            how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
            self._say(f"{kept.child.name} {how}; starting it again in {wait:.1f} s")
        if now < kept.due:
            return False
        try:
            kept.launch()
        except Failure as failure:
            self._say(str(failure))
            kept.due = now + next(kept.waits)
            return False
        kept.launched, kept.due = now, None
        self._say(f"{kept.child.name} runs again (process {kept.child.pid})")
        return True
