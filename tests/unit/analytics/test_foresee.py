"""What is foreseen: of growth that is known, of none, and how often the truth is where it was told
to be."""

import random
from datetime import date, timedelta

import pytest

from analytics.insight.foresee import FARTHEST, Trend, reach, trend_of
from analytics.insight.foreseen import Room, forecasts
from analytics.settings import Capacity
from gatepost.insight.figures import EVERY, Figures, Spread

LAST = date(2026, 9, 6)
DAY = timedelta(days=1)
WEEK = (1.2, 1.4, 1.3, 1.2, 1.1, 0.5, 0.3)
"""An average day is 1."""


def weeks(number: int, level: float, growth: float, noise: float = 0, seed: int = 0) -> Trend:
    """So many messages on an average day at the end, and so many more each day."""
    chance = random.Random(seed)
    values = {}
    for n in range(number * 7):
        day = LAST - DAY * n
        usual = (level - growth * n) * WEEK[day.weekday()]
        values[day] = usual * chance.gauss(1, noise)
    found = trend_of(values)
    assert found is not None
    return found


def test_growth_goes_on_and_reaches_its_limit_on_its_day() -> None:
    trend = weeks(8, 10_000, 50)
    assert trend.slope == pytest.approx(50, rel=0.1)
    found = reach(trend, 12_000, on_peaks=False)
    assert found.expected is not None
    assert abs((found.expected - LAST).days - 40) <= 6
    on_peaks = reach(trend, 12_000, on_peaks=True)
    assert on_peaks.expected is not None
    assert on_peaks.expected < found.expected


def test_without_growth_no_day_is_told() -> None:
    found = reach(weeks(8, 10_000, 0, noise=0.02), 20_000, on_peaks=False)
    assert (found.expected, found.latest) == (None, None)
    shrinking = reach(weeks(8, 10_000, -60), 30_000, on_peaks=False)
    assert (shrinking.earliest, shrinking.expected, shrinking.latest) == (None, None, None)


def test_what_is_reached_is_reached_today_and_what_is_far_off_is_not_told() -> None:
    trend = weeks(8, 10_000, 50)
    assert reach(trend, 5_000, on_peaks=False).latest == LAST
    assert reach(trend, 10_000 + 60 * FARTHEST.days, on_peaks=False).expected is None


def test_of_less_than_three_weeks_nothing_is_foreseen() -> None:
    values = {LAST - DAY * n: 100.0 for n in range(20)}
    assert trend_of(values) is None
    assert trend_of({}) is None
    assert trend_of(values | {LAST - DAY * 20: 100.0}) is not None
    assert trend_of({LAST - DAY * n: 0.0 for n in range(56)}) is None


def test_odd_days_do_not_bend_it() -> None:
    values = {LAST - DAY * n: 1_000.0 for n in range(56)}
    values |= {LAST - DAY * n: 90_000.0 for n in (0, 3, 9)} | {LAST - DAY * 5: 0.0}
    found = trend_of(values)
    assert found is not None
    assert found.slope == pytest.approx(0, abs=0.5)
    assert found.level == pytest.approx(1_000, rel=0.01)


@pytest.mark.parametrize("noise", [0.03, 0.1, 0.2])
def test_the_truth_is_mostly_where_it_was_told_to_be(noise: float) -> None:
    """Nine times of ten is what is meant; with weekdays guessed from eight weeks it is a little
    less."""
    told = 0
    for seed in range(100):
        low, _, high = weeks(8, 10_000, 60, noise, seed).after(28)
        told += low <= 10_000 + 60 * 28 <= high
    assert told >= 85


def test_of_a_domain_its_volume_and_of_all_the_limits() -> None:
    hours = Spread(hours={9: [7_200, 0, 0]})
    days = {LAST - DAY * n: Figures(accepted=7_200, spread=hours) for n in range(28)}
    capacity = Capacity(messages_per_second=2, ledger_gigabytes=1)
    room = Room(1_000.0, 30)
    assert [one.target for one in forecasts("a", days, capacity, room)] == ["volume"]
    volume, rate, size = forecasts(EVERY, days, capacity, room)
    assert volume.words.startswith(
        "About 7,200 messages on an average day now; in four weeks 7,200"
    )
    assert rate.at_present == pytest.approx(2)
    assert "is reached already" in rate.words
    assert size.at_present == pytest.approx(7_200 * 1_000 * 30 / 1e9)
    assert "won't be reached within 2 years" in size.words
    assert [one.target for one in forecasts(EVERY, days, Capacity(), room)] == ["volume"]
    (_, unknown) = forecasts(EVERY, days, Capacity(ledger_gigabytes=1), Room(None, 30))
    assert "can't be foreseen yet" in unknown.words
