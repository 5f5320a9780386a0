"""The breaker of a store: opens after three misses, probes every half second, closes by one hit."""

import pytest

from proxy.breaker import MISSES_TO_OPEN, PROBE_SECONDS, SLOW_SECONDS, Breaker
from tests.heard import HeardLog


class Watched:
    """A breaker, its clock and its log."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.log = HeardLog()
        self.breaker = Breaker("queue", self.log, lambda: self.now)

    def miss(self, times: int) -> None:
        for _ in range(times):
            self.breaker.missed("away")


def test_it_stays_closed_below_three_misses_in_a_row() -> None:
    one = Watched()
    for _ in range(5):
        one.miss(MISSES_TO_OPEN - 1)
        assert one.breaker.allows()
        assert one.breaker.problem is None
        one.breaker.hit()
    assert one.log.events() == []


def test_the_third_opens_it_and_says_why_once() -> None:
    one = Watched()
    one.miss(MISSES_TO_OPEN + 10)
    assert not one.breaker.allows()
    assert one.breaker.problem == "away"
    assert one.log.of("breaker.opened") == [
        {"level": "warning", "event": "breaker.opened", "store": "queue", "reason": "away"}
    ]


def test_open_it_lets_one_through_every_half_second() -> None:
    one = Watched()
    one.miss(MISSES_TO_OPEN)
    passed = 0
    for _ in range(1000):
        one.now += 0.01
        passed += one.breaker.allows()
    assert passed == pytest.approx(10 / PROBE_SECONDS, abs=1)


def test_a_probe_that_misses_leaves_it_open_and_one_that_hits_closes_it() -> None:
    one = Watched()
    one.miss(MISSES_TO_OPEN)
    one.now += PROBE_SECONDS
    assert one.breaker.allows()
    one.breaker.missed("still away")
    assert not one.breaker.allows()
    one.now += PROBE_SECONDS
    assert one.breaker.allows()
    one.breaker.hit()
    assert one.breaker.allows()
    assert one.breaker.problem is None
    assert one.log.events() == ["breaker.opened", "breaker.closed"]


def test_a_store_that_answers_something_else_is_no_problem_until_a_commit_misses_again() -> None:
    """Or a proxy that isn't ready, and so is sent nothing, would never get ready again."""
    one = Watched()
    one.miss(MISSES_TO_OPEN)
    one.breaker.answers()
    assert one.breaker.problem is None
    assert not one.breaker.allows(), "a commit has yet to show it, one every half second"
    one.now += PROBE_SECONDS
    assert one.breaker.allows()
    one.miss(1)
    assert one.breaker.problem == "away"


def test_slow_is_a_miss_and_busy_is_not() -> None:
    one = Watched()
    for _ in range(10):
        one.breaker.late(SLOW_SECONDS)
    assert one.breaker.allows()
    for _ in range(MISSES_TO_OPEN):
        one.breaker.late(SLOW_SECONDS + 0.01)
    assert not one.breaker.allows()
    assert one.breaker.problem == "slow"
