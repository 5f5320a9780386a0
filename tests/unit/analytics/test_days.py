"""Which days are due, and when one is done."""

from datetime import date, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as some

from analytics.days import (
    DAY,
    day_of,
    demand_sane,
    due,
    ids_of,
    may_be_sealed,
    missing,
    parts_of,
    to_watch,
)
from analytics.errors import ClockDoubted

TODAY = date(2026, 9, 8)
WATCHED = 30
days = some.dates(date(2020, 1, 1), date(2100, 1, 1))


@given(day=days, count=some.integers(1, 100))
def test_the_parts_of_a_day_are_the_day_without_gap_or_overlap(day: date, count: int) -> None:
    parts = parts_of(day, count)
    assert parts[0].first == ids_of(day).first
    assert parts[-1].end == ids_of(day).end == ids_of(day + DAY).first
    for one, following in pairwise(parts):
        assert one.first < one.end == following.first
    assert day_of(parts[-1].first) == day_of(parts[0].first) == day


def test_without_messages_it_is_yesterday() -> None:
    assert due(TODAY, {}, None, WATCHED) == [TODAY - DAY]


def test_the_first_night_begins_with_the_first_message() -> None:
    assert due(TODAY, {}, TODAY - DAY * 3, WATCHED) == [TODAY - DAY * n for n in (3, 2, 1)]


def test_today_is_not_over() -> None:
    assert due(TODAY, {}, TODAY, WATCHED) == [TODAY - DAY]
    assert due(TODAY, {TODAY: False}, TODAY - DAY, WATCHED) == [TODAY - DAY]


def test_what_is_not_sealed_is_due_however_old() -> None:
    published = {TODAY - DAY * 50: False, TODAY - DAY * 49: True, TODAY - DAY: True}
    assert due(TODAY, published, None, WATCHED) == [TODAY - DAY * 50]


@given(
    ages=some.lists(some.tuples(some.integers(-5, 40), some.booleans())), first=some.integers(0, 40)
)
def test_no_day_between_is_left_out(ages: list[tuple[int, bool]], first: int) -> None:
    published = {TODAY - DAY * age: sealed for age, sealed in ages}
    found = due(TODAY, published, TODAY - DAY * first, WATCHED)
    assert found == sorted(set(found))
    assert all(day < TODAY and not published.get(day) for day in found)
    for age in range(1, min(first, WATCHED) + 1):
        day = TODAY - DAY * age
        assert day in found or published[day]


def test_the_last_days_are_watched_every_night_and_those_before_in_turn() -> None:
    sealed = [TODAY - DAY * age for age in range(1, 401)]
    looked_at = [
        [(tonight - day).days for day in to_watch(tonight, sealed, WATCHED)]
        for tonight in (TODAY + DAY * n for n in range(WATCHED))
    ]
    for ages in looked_at:
        assert [age for age in ages if age <= WATCHED] == list(range(ages[0], WATCHED + 1))
        assert len(ages) <= WATCHED + len(sealed) // WATCHED + 1
    seen = {TODAY + DAY * n - DAY * age for n, ages in enumerate(looked_at) for age in ages}
    assert seen == set(sealed)


def test_a_night_is_missing_from_noon_on() -> None:
    before, noon = datetime(2026, 9, 8, 11, 59), datetime(2026, 9, 8, 12)
    published = {TODAY - DAY * 2}
    assert missing(before, published, None) == []
    assert missing(noon, published, None) == [TODAY - DAY]
    assert missing(noon, published | {TODAY - DAY}, TODAY - DAY * 9) == []


def test_nights_are_missing_between_others_or_since_the_first_message() -> None:
    noon, published = datetime(2026, 9, 8, 12), {TODAY - DAY * 4, TODAY - DAY}
    assert missing(noon, published, None) == [TODAY - DAY * 3, TODAY - DAY * 2]
    assert missing(noon, {}, TODAY - DAY * 2) == [TODAY - DAY * 2, TODAY - DAY]
    assert missing(noon, {}, None) == missing(noon, {}, TODAY) == []
    assert missing(noon, {TODAY + DAY}, TODAY - DAY * 2) == []


def test_a_day_is_sealed_when_its_last_message_can_wait_no_more() -> None:
    day, lifetime = date(2026, 9, 3), timedelta(hours=96)
    before, over = datetime(2026, 9, 7, 23, 59, 59), datetime(2026, 9, 8)
    long_ago = datetime(2026, 9, 4)
    assert not may_be_sealed(day, before, lifetime, long_ago)
    assert may_be_sealed(day, over, lifetime, long_ago)
    assert not may_be_sealed(day, over, lifetime, None)
    assert not may_be_sealed(day, over + timedelta(hours=3), lifetime, over)


def test_clocks_must_agree_and_days_be_few() -> None:
    now = datetime(2026, 9, 8, 2)
    demand_sane(now, now + timedelta(minutes=4), [TODAY], 1)
    with pytest.raises(ClockDoubted, match="Set the one that is wrong"):
        demand_sane(now, now + timedelta(minutes=6), [TODAY], 1)
    with pytest.raises(ClockDoubted, match="--catch-up"):
        demand_sane(now, now, [TODAY - DAY, TODAY], 1)
