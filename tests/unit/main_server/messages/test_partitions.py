"""Partitions: which days are missing, and the one statement that makes them."""

from datetime import date, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatepost.ids import id_ms
from main_server.messages.partitions import (
    DAYS_AHEAD,
    missing_days,
    partition_name,
    reorganize,
)

TODAY = date(2030, 3, 1)


def names(*days: date) -> list[str]:
    return [*map(partition_name, days), "pmax"]


def days(first: int, last: int) -> list[date]:
    return [TODAY + timedelta(days=n) for n in range(first, last + 1)]


@pytest.mark.parametrize(
    ("existing", "missing"),
    [
        (["pmax"], days(-1, DAYS_AHEAD)),
        ([], days(-1, DAYS_AHEAD)),
        (names(*days(-1, DAYS_AHEAD)), []),
        (names(*days(-2, DAYS_AHEAD - 1)), days(DAYS_AHEAD, DAYS_AHEAD)),
        (names(*days(-1, 0)), days(1, DAYS_AHEAD)),
        (names(*days(-90, -60)), days(-1, DAYS_AHEAD)),
        (names(*days(-1, DAYS_AHEAD + 30)), []),
    ],
)
def test_the_days_after_the_last_are_missing(existing: list[str], missing: list[date]) -> None:
    assert missing_days(existing, TODAY) == ({"pmax": missing} if missing else {})


def test_one_that_is_missing_in_the_middle_is_made_unless_its_day_has_begun() -> None:
    existing = names(*days(-1, 2), *days(5, 8), *days(10, DAYS_AHEAD))
    assert missing_days(existing, TODAY) == {
        partition_name(days(5, 5)[0]): days(3, 4),
        partition_name(days(10, 10)[0]): days(9, 9),
    }
    assert missing_days(names(*days(1, DAYS_AHEAD)), TODAY) == {}
    assert missing_days(names(*days(40, 60)), TODAY) == {}, "a clock that is set back"


def test_a_day_is_divided_for_those_before_it() -> None:
    statement = reorganize("messages", [date(2030, 2, 28)], "p20300301")
    assert statement == (
        "ALTER TABLE messages REORGANIZE PARTITION p20300301 INTO ("
        "PARTITION p20300228 VALUES LESS THAN (x'01ba0a9ce80000000000000000000000'), "
        "PARTITION p20300301 VALUES LESS THAN (x'01ba0fc3440000000000000000000000'))"
    )


@given(
    st.dates(date(2020, 1, 1), date(2100, 1, 1)), st.lists(st.integers(min_value=0, max_value=40))
)
def test_day_after_day_there_is_always_one_for_today_and_tomorrow(
    first: date, pauses: list[int]
) -> None:
    existing, today = ["pmax"], first
    for pause in [0, *pauses]:
        today += timedelta(days=pause)
        missing = missing_days(existing, today)
        assert missing.keys() <= {"pmax"}
        made = missing.get("pmax", [])
        assert made == sorted(set(made))
        existing += map(partition_name, made)
        assert len(existing) == len(set(existing))
        assert max(e for e in existing if e != "pmax") >= partition_name(
            today + timedelta(days=DAYS_AHEAD)
        )


def test_the_statement_divides_the_last_one() -> None:
    statement = reorganize("messages", [date(2030, 2, 28), date(2030, 3, 1)])
    assert statement == (
        "ALTER TABLE messages REORGANIZE PARTITION pmax INTO ("
        "PARTITION p20300228 VALUES LESS THAN (x'01ba0a9ce80000000000000000000000'), "
        "PARTITION p20300301 VALUES LESS THAN (x'01ba0fc3440000000000000000000000'), "
        "PARTITION pmax VALUES LESS THAN (MAXVALUE))"
    )
    boundary = UUID(hex="01ba0a9ce80000000000000000000000")
    assert id_ms(boundary) == 1_898_553_600_000, "2030-03-01T00:00:00Z"
