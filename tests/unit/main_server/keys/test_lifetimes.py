"""Lifetimes: a sealing key outlives every message that may have been sealed to it (I1)."""

from datetime import UTC, date, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from main_server.keys.lifetimes import (
    DAY,
    MAX_LIFETIME,
    SEALING_TURN,
    destroyable_from,
    dies_at,
    is_due,
    use_until,
)

moments = st.datetimes(datetime(2020, 1, 1), datetime(2060, 1, 1))
spans = st.timedeltas(timedelta(), timedelta(days=400))


@given(made=moments, replaced_after=spans)
def test_it_dies_after_the_last_message_that_the_edge_may_have_sealed(
    made: datetime, replaced_after: timedelta
) -> None:
    replaced = made + replaced_after
    dies = dies_at(made, replaced)
    assert dies >= use_until(made) + MAX_LIFETIME
    assert dies >= replaced + MAX_LIFETIME + DAY
    assert dies <= max(replaced, made + DAY) + MAX_LIFETIME + DAY, "and not later than need be"


@given(made=moments)
def test_a_key_that_turns_in_time_is_never_too_old_for_the_edge(made: datetime) -> None:
    turned = made + SEALING_TURN
    assert is_due(made, turned)
    assert not is_due(made, turned - timedelta(milliseconds=1))
    assert use_until(made) - turned >= DAY, "a day for a proxy to hear of the next"


@given(day=st.dates(date(2020, 1, 1), date(2060, 1, 1)), of_day=st.timedeltas(timedelta(), DAY))
def test_a_day_may_go_when_its_last_message_has_ended_a_day_ago(
    day: date, of_day: timedelta
) -> None:
    midnight = datetime(day.year, day.month, day.day, tzinfo=UTC).replace(tzinfo=None)
    assert destroyable_from(day) >= midnight + of_day + MAX_LIFETIME + DAY
    assert destroyable_from(day) == midnight + DAY + MAX_LIFETIME + DAY
