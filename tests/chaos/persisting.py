"""What the harness must do and may fail at: the machine starves, or a store is away.

It is tried again until it is done or its time is over; how often, and why not, is said.
"""

import time
from collections.abc import Callable
from typing import TypeVar

from infra.dev.steps import Failure

PAUSE_SECONDS = 0.25
R = TypeVar("R")
Told = Callable[[int, str], object]
"""Is told of each try that failed: its number, and why."""


class NotDone(Failure):
    """Something that the harness must do could not be done in its time."""


def persist(
    what: str,
    act: Callable[[], R],
    seconds: float,
    failures: tuple[type[Exception], ...] = (Exception,),
    told: Told = lambda _number, _why: None,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], object] = time.sleep,
) -> R:
    """Return what the act returns, once it does; raise NotDone with what went wrong last."""
    deadline, number = clock() + seconds, 0
    while True:
        number += 1
        try:
            return act()
        except failures as error:
            why = f"{type(error).__name__}: {error}"
            told(number, why)
            if clock() >= deadline:
                tries = "1 try" if number == 1 else f"{number} tries"
                raise NotDone(f"{what} could not be done, after {tries}: {why}") from error
        sleep(PAUSE_SECONDS)
