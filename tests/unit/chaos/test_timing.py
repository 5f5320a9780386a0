"""Rates, recovery and unavailability, out of times that are made up."""

import pytest

from tests.chaos.timing import accepted_share, recovered_after, unavailable

STEADY = [n / 10 for n in range(200)]
"""Ten a second, from 0 to 20."""


def without(begin: float, end: float) -> list[float]:
    return [at for at in STEADY if not begin <= at < end]


def test_what_never_stopped_has_recovered_at_once() -> None:
    assert recovered_after(STEADY, STEADY, 5.0, 15.0) == 0.0


def test_a_gap_after_the_fault_is_the_time_to_recover() -> None:
    assert recovered_after(without(5.0, 7.5), STEADY, 5.0, 15.0) == pytest.approx(2.5, abs=0.11)


def test_half_of_the_rate_is_no_recovery() -> None:
    halved = [at for n, at in enumerate(STEADY) if at < 5 or n % 2]
    assert recovered_after(halved, STEADY, 5.0, 15.0) == float("inf")


def test_a_lull_of_the_senders_is_no_outage() -> None:
    assert recovered_after(without(5.0, 7.5), without(5.0, 7.5), 5.0, 15.0) == 0.0


def test_posting_is_unavailable_where_more_fail_than_succeed() -> None:
    posts = [(n / 100, not 200 <= n < 300) for n in range(1000)]
    assert unavailable(posts, 0.0, 10.0) == pytest.approx(1.0)


def test_a_share_is_of_what_was_sent_between() -> None:
    posts = [(0.5, False), (1.5, True), (2.5, False), (3.5, False)]
    assert accepted_share(posts, 1.0, 3.0) == 0.5
    assert accepted_share(posts, 8.0, 9.0) == 1.0
