"""Turns at the granted rate: nobody waits before a refusal, and nobody for longer than needed."""

import pytest

from gatepost.client.errors import RateLimited
from gatepost.client.pace import FORGOTTEN_SECONDS, Pace


class Moment:
    def __init__(self) -> None:
        self.now = 1000.0
        self.pace = Pace(lambda: self.now)

    def refused(self, interval: float | None = 0.01, retry_after: float = 1.0) -> None:
        error = RateLimited("words", retry_after=retry_after)
        error.interval = interval
        self.pace.refused(error)


def test_nobody_waits_as_long_as_nobody_was_refused() -> None:
    moment = Moment()
    assert [moment.pace.wait(1000) for _ in range(3)] == [0.0] * 3
    assert moment.pace.a_second is None


def test_who_was_refused_takes_turns() -> None:
    moment = Moment()
    moment.refused()
    assert [moment.pace.wait() for _ in range(3)] == pytest.approx([0.01, 0.02, 0.03])
    assert moment.pace.wait(100) == pytest.approx(1.03)
    assert moment.pace.a_second == 100


def test_refusals_of_many_at_once_are_one() -> None:
    moment = Moment()
    for _ in range(50):
        moment.refused()
    assert moment.pace.wait() == pytest.approx(0.01)


def test_what_takes_longer_than_is_wanted_takes_no_turn() -> None:
    moment = Moment()
    moment.refused()
    assert moment.pace.wait(1000, most=5.0) is None
    assert moment.pace.wait() == pytest.approx(0.01)


@pytest.mark.parametrize(("said", "wait"), [(1.0, 0.01), (3.0, 2.0), (3600.0, 3599.0)])
def test_whole_seconds_that_were_rounded_up_are_not_waited_for(said: float, wait: float) -> None:
    moment = Moment()
    moment.refused(retry_after=said)
    assert moment.pace.wait() == pytest.approx(wait)


def test_without_a_rate_what_is_said_is_waited_for() -> None:
    moment = Moment()
    moment.refused(interval=None, retry_after=2.0)
    assert moment.pace.wait() == pytest.approx(2.0)


def test_it_is_forgotten_when_nobody_has_waited_for_a_while() -> None:
    moment = Moment()
    moment.refused()
    moment.pace.wait()
    moment.now += FORGOTTEN_SECONDS + 0.1
    assert [moment.pace.wait() for _ in range(3)] == [0.0] * 3
