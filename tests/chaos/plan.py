"""Draws a run's plan of faults: all of it by the seed, so that a run can be had again.

Faults overlap, but for those that hold the same. What destroys Redis's data is placed first, in
moments in which nothing keeps the ledger from having all that Redis has: else messages would be
exposed, and a loss would prove nothing.
"""

import random
from collections.abc import Iterable, Sequence

from tests.chaos.faults.fault import Fault
from tests.chaos.menu import Dish, destroyers
from tests.chaos.schedule import Planned

BETWEEN_FAULTS = 2.6
"""Seconds, on average."""

BETWEEN_DESTROYERS = 75.0
CALM_BEFORE, CALM_AFTER = 9.0, 2.0
"""Around a destroyer: time enough to register what is exposed (5 s by I1), and to recover first."""

TRIES = 50
FIRST_SECONDS = 3.0


def draw(
    dishes: Sequence[Dish],
    seed: int,
    seconds: float,
    once: Sequence[Fault] = (),
    last: Fault | None = None,
) -> list[Planned]:
    """In order. All have ended when the time is over: just then, the last one. Each of `once` comes
    a single time, if there is room for it.
    """
    dice = random.Random(seed)
    planned = [Planned(seconds - last.seconds, last)] if last else []
    planned += _draw_destroyers(dice, seconds - (CALM_AFTER + last.seconds if last else 0.0))
    for fault in once:
        times = (dice.uniform(FIRST_SECONDS, seconds) for _ in range(TRIES))
        _place(planned, (Planned(at, fault) for at in times), seconds)
    at = FIRST_SECONDS
    while at < seconds:
        _place(planned, (Planned(at, _choose(dice, dishes)) for _ in range(TRIES)), seconds)
        at += dice.expovariate(1 / BETWEEN_FAULTS)
    return sorted(planned)


def _place(planned: list[Planned], candidates: Iterable[Planned], seconds: float) -> None:
    """Adds the first that fits, if there is one."""
    for candidate in candidates:
        if _over(candidate) <= seconds and not any(_clash(candidate, p) for p in planned):
            planned.append(candidate)
            return


def _draw_destroyers(dice: random.Random, seconds: float) -> list[Planned]:
    found = []
    at = dice.uniform(0.4, 0.6) * min(seconds, BETWEEN_DESTROYERS)
    while at < seconds - CALM_AFTER:
        found.append(Planned(at, _choose(dice, destroyers())))
        at += dice.uniform(0.8, 1.2) * BETWEEN_DESTROYERS
    return found


def _choose(dice: random.Random, dishes: Sequence[Dish]) -> Fault:
    [dish] = dice.choices(dishes, [one.weight for one in dishes])
    return dish.make(dice)


def _clash(one: Planned, other: Planned) -> bool:
    if other.fault.destroys:
        begins, ends = other.at - CALM_BEFORE, _over(other) + CALM_AFTER
        return one.at < ends and _over(one) > begins and _touches_the_ledger(one.fault)
    overlap = one.at < _over(other) and other.at < _over(one)
    return overlap and bool(one.fault.holds() & other.fault.holds())


def _touches_the_ledger(fault: Fault) -> bool:
    """Whether it may keep messages that Redis has from being registered, or holds Redis itself."""
    calm = ("worker", "clients>", "renewal of ")
    return not all(held.startswith(calm) for held in fault.holds())


def _over(one: Planned) -> float:
    return one.at + one.fault.seconds
