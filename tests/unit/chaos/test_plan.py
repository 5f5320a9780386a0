"""Plans: the same by the same seed, overlapping, and without what would prove nothing."""

from itertools import pairwise

import pytest

from tests.chaos.faults.fault import Fault
from tests.chaos.menu import Dish
from tests.chaos.plan import BETWEEN_FAULTS, CALM_AFTER, CALM_BEFORE, draw
from tests.chaos.schedule import Planned

SECONDS = 600.0


class Nuisance(Fault):
    name = "nuisance"


DISHES = [
    Dish(3, lambda dice: Nuisance(dice.choice(("main-1", "mariadb", "redis")), dice.uniform(1, 9))),
    Dish(3, lambda dice: Nuisance(dice.choice(("worker-1", "worker-2")), dice.uniform(1, 36))),
    Dish(3, lambda dice: Nuisance(dice.choice("abcdef"), dice.uniform(0.1, 9))),
]
SEEDS = pytest.mark.parametrize("seed", range(5))


def told(plan: list[Planned]) -> list[tuple[float, str, str, float]]:
    return [(one.at, one.fault.name, one.fault.target, one.fault.seconds) for one in plan]


def ends(one: Planned) -> float:
    return one.at + one.fault.seconds


@SEEDS
def test_the_same_seed_draws_the_same_plan(seed: int) -> None:
    assert told(draw(DISHES, seed, SECONDS)) == told(draw(DISHES, seed, SECONDS))
    assert told(draw(DISHES, seed, SECONDS)) != told(draw(DISHES, seed + 100, SECONDS))


@SEEDS
def test_there_are_enough_of_them_and_all_end_in_time(seed: int) -> None:
    plan = draw(DISHES, seed, SECONDS)
    assert len(plan) > 0.8 * SECONDS / BETWEEN_FAULTS
    assert max(map(ends, plan)) <= SECONDS


@SEEDS
def test_what_comes_once_comes_once_and_the_last_one_ends_the_run(seed: int) -> None:
    once = [Nuisance(f"once-{n}", 4.0) for n in range(7)]
    last = Nuisance("mariadb", 4.0)
    plan = [one for one in draw(DISHES, seed, SECONDS, once, last) if not one.fault.destroys]
    assert all(sum(one.fault is each for one in plan) == 1 for each in once)
    assert [ends(one) for one in plan if one.fault is last] == [SECONDS]
    assert max(map(ends, plan)) <= SECONDS


@SEEDS
def test_faults_overlap_but_never_of_one_target(seed: int) -> None:
    plan = draw(DISHES, seed, SECONDS)
    assert any(later.at < ends(earlier) for earlier, later in pairwise(plan))
    last: dict[str, float] = {}
    for one in plan:
        if not one.fault.destroys:
            assert last.get(one.fault.target, 0.0) <= one.at
            last[one.fault.target] = ends(one)


@SEEDS
def test_nothing_keeps_the_ledger_behind_when_redis_is_destroyed(seed: int) -> None:
    plan = draw(DISHES, seed, SECONDS)
    destroyers = [one for one in plan if one.fault.destroys]
    assert len(destroyers) >= 5
    for destroyer in destroyers:
        begin, end = destroyer.at - CALM_BEFORE, ends(destroyer) + CALM_AFTER
        near = [one for one in plan if one.at < end and ends(one) > begin and one is not destroyer]
        assert all(one.fault.target.startswith("worker") for one in near)
