"""What stands out and what doesn't: for months of days that are made up, by a seed."""

import random
from collections.abc import Callable
from datetime import date, timedelta

import pytest

from analytics.insight.unusual import ACCEPTED, FAILED, P95, Unusual, in_words, judge

MONDAY = date(2026, 9, 7)
TUESDAY = MONDAY + timedelta(days=1)
DAY = timedelta(days=1)
WEEK = (1.0, 1.1, 1.05, 1.0, 0.9, 0.3, 0.2)


def month(day: date, value: Callable[[date], float | None]) -> dict[date, float | None]:
    return {day - DAY * n: value(day - DAY * n) for n in range(1, 29)}


def steady(day: date) -> float:
    return 1200 * WEEK[day.weekday()] * (1.05 if day.toordinal() % 3 else 0.97)


def test_a_tuesday_with_next_to_nothing_is_told_in_words() -> None:
    found = judge(ACCEPTED, TUESDAY, 3, month(TUESDAY, steady))
    assert found is not None
    assert found.score < -5
    words = in_words(found, TUESDAY, "client example.com:a")
    assert words.startswith("client example.com:a sent 3 messages on a Tuesday, where 1,3")
    assert words.endswith(" are usual")


def test_a_usual_day_is_not_told_of_whatever_its_weekday() -> None:
    for n in range(7):
        day = MONDAY + DAY * n
        assert judge(ACCEPTED, day, steady(day), month(day, steady)) is None
    sunday = MONDAY - DAY
    assert judge(ACCEPTED, sunday, 1200, month(sunday, steady)) is not None


@pytest.mark.parametrize("known", [0, 1, 13])
def test_of_little_that_is_known_nothing_is_concluded(known: int) -> None:
    history = dict(sorted(month(TUESDAY, steady).items())[-known:]) if known else {}
    assert judge(ACCEPTED, TUESDAY, 100_000, history) is None


def test_two_days_of_the_same_weekday_are_too_few() -> None:
    history = {day: was for day, was in month(TUESDAY, steady).items() if TUESDAY - day < DAY * 20}
    assert len(history) > 14
    assert judge(ACCEPTED, TUESDAY, 0, history) is None


def test_one_bad_day_among_them_hides_nothing_and_raises_no_alarm() -> None:
    history = month(TUESDAY, steady)
    history[TUESDAY - DAY * 7] = 0
    history[TUESDAY - DAY * 3] = 90_000
    assert judge(ACCEPTED, TUESDAY, steady(TUESDAY), history) is None
    assert judge(ACCEPTED, TUESDAY, 3, history) is not None


def test_a_few_messages_more_are_no_news() -> None:
    assert judge(ACCEPTED, TUESDAY, 40, month(TUESDAY, lambda _: 2)) is None
    assert judge(FAILED, TUESDAY, 15, month(TUESDAY, lambda _: 0)) is None
    assert judge(FAILED, TUESDAY, 60, month(TUESDAY, lambda _: 0)) is not None


def test_better_than_usual_is_not_told_of() -> None:
    assert judge(P95, TUESDAY, 100, month(TUESDAY, lambda _: 30_000)) is None
    slower = judge(P95, TUESDAY, 120_000, month(TUESDAY, lambda _: 300))
    assert slower is not None
    assert "took longer than 2 min to deliver on a Tuesday" in in_words(slower, TUESDAY, "x")
    assert judge(FAILED, TUESDAY, 0, month(TUESDAY, lambda _: 500)) is None


def test_days_of_more_than_four_weeks_ago_do_not_count() -> None:
    old = {TUESDAY - DAY * n: 1000.0 for n in range(29, 90)}
    assert judge(ACCEPTED, TUESDAY, 0, old) is None


@pytest.mark.parametrize(("level", "varies"), [(3, 0.3), (60, 0.2), (3_000, 0.1), (3_000, 0.2)])
def test_noise_raises_hardly_an_alarm(level: float, varies: float) -> None:
    """Three years of one client, day after day: at most one."""
    chance, known = random.Random(7), dict[date, float | None]()
    told: list[Unusual] = []
    for n in range(1100):
        day = MONDAY + DAY * n
        mean = level * WEEK[day.weekday()]
        value = float(max(0, round(chance.gauss(mean, (mean + (varies * mean) ** 2) ** 0.5))))
        if found := judge(ACCEPTED, day, value, known):
            told.append(found)
        known[day] = value
        known.pop(day - DAY * 30, None)
    assert len(told) <= 1
