"""The clock never runs back; times go to the boundary and to the ledger without losing a ms."""

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatepost.clock import Clock, from_ms, iso, to_ms

FIRST_MS, LAST_MS = -62_135_596_800_000, 253_402_300_799_999
"""The years 1 to 9999."""


def test_a_wall_clock_that_is_set_back_is_not_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    told = iter([5_000, 4_000, 4_999, 5_001])
    monkeypatch.setattr(time, "time_ns", lambda: next(told) * 1_000_000)
    clock = Clock()
    assert [clock.now_ms() for _ in range(4)] == [5_000, 5_000, 5_000, 5_001]


def test_the_clock_tells_the_time() -> None:
    before = time.time_ns() // 1_000_000
    assert before <= Clock().now_ms() <= time.time_ns() // 1_000_000


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1_760_963_696_789, "2025-10-20T12:34:56.789Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (LAST_MS, "9999-12-31T23:59:59.999Z"),
    ],
)
def test_iso_is_utc_with_milliseconds(ms: int, text: str) -> None:
    assert iso(ms) == text


@given(st.integers(min_value=FIRST_MS, max_value=LAST_MS))
def test_the_ledgers_time_and_ours_are_the_same_to_the_millisecond(ms: int) -> None:
    assert to_ms(from_ms(ms)) == ms
    assert from_ms(ms).tzinfo is None


@given(st.datetimes(timezones=st.timezones() | st.just(UTC)))
def test_a_time_is_cut_to_its_millisecond_never_rounded_up(moment: datetime) -> None:
    ms = to_ms(moment)
    assert from_ms(ms).replace(tzinfo=UTC) <= moment
    assert moment - from_ms(ms).replace(tzinfo=UTC) < timedelta(milliseconds=1)


def test_the_last_instant_stays_in_its_year() -> None:
    assert to_ms(datetime.max.replace(tzinfo=UTC)) == LAST_MS
    assert from_ms(LAST_MS).year == 9999


def test_a_naive_time_is_utc_and_a_zone_is_heeded() -> None:
    naive = datetime(2025, 10, 20, 12, 34, 56, 789_000)
    assert to_ms(naive) == to_ms(naive.replace(tzinfo=UTC))
    ahead = timezone(timedelta(hours=2))
    assert to_ms(naive.replace(tzinfo=ahead)) == to_ms(naive) - 2 * 3_600_000
