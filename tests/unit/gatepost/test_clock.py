"""The clock never runs back; times go to the boundary and to the ledger without losing a ms."""

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatepost.clock import Clock, from_ms, iso, to_ms

FIRST_MS, LAST_MS = -62_135_596_800_000, 253_402_300_799_999
"""The years 1 to 9999."""


class Machine:
    """A machine whose two clocks a test can set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.wall, self.steady = 1_000_000_000, 0
        monkeypatch.setattr(time, "time_ns", lambda: self.wall * 1_000_000)
        monkeypatch.setattr(time, "monotonic_ns", lambda: self.steady * 1_000_000)

    def passes(self, ms: int) -> None:
        self.wall += ms
        self.steady += ms


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(monkeypatch)


@pytest.mark.parametrize("step", [-3_600_000, -1, 400 * 86_400_000])
def test_a_wall_clock_that_is_set_while_we_run_is_not_seen(machine: Machine, step: int) -> None:
    clock = Clock()
    before = clock.now_ms()
    machine.wall += step
    machine.passes(5)
    assert clock.now_ms() == before + 5


@pytest.mark.parametrize("off", [-400 * 86_400_000, -3_600_000, -200, 200, 400 * 86_400_000])
def test_a_wall_clock_that_is_wrong_at_the_start_is_corrected_at_once(
    machine: Machine, off: int
) -> None:
    true = machine.wall
    machine.wall += off
    clock = Clock()
    clock.correct(true, took_ms=2)
    assert abs(clock.now_ms() - true) <= 1
    machine.passes(1000)
    assert abs(clock.now_ms() - true - 1000) <= 1
    assert bool(clock.note) is (abs(off) > 2_000)


def test_a_reference_that_is_as_near_as_it_can_tell_changes_nothing(machine: Machine) -> None:
    clock = Clock()
    before = clock.now_ms()
    clock.correct(machine.wall + 80, took_ms=2)
    clock.correct(machine.wall + 400, took_ms=900)
    assert clock.now_ms() == before


@pytest.mark.parametrize("leap", [5 * 86_400_000, -5 * 86_400_000])
def test_one_wrong_answer_of_the_shared_clock_is_told_and_not_believed(
    machine: Machine, leap: int
) -> None:
    clock = Clock()
    clock.correct(machine.wall, took_ms=0)
    clock.correct(machine.wall + leap, took_ms=0)
    assert clock.now_ms() == machine.wall
    assert "leapt" in (clock.note or "")
    machine.passes(1000)
    clock.correct(machine.wall, took_ms=0)
    assert (clock.now_ms(), clock.note) == (machine.wall, None)


def test_a_leap_that_stays_is_believed_and_so_is_the_way_back(machine: Machine) -> None:
    clock = Clock()
    clock.correct(machine.wall, took_ms=0)
    for leap in (5 * 86_400_000, 0):
        for _ in range(5):
            machine.passes(1000)
            clock.correct(machine.wall + leap, took_ms=0)
        assert clock.now_ms() == machine.wall + leap


def test_a_small_step_back_of_the_shared_clock_is_waited_out(machine: Machine) -> None:
    clock = Clock()
    clock.correct(machine.wall + 2_000, took_ms=0)
    ahead = clock.now_ms()
    clock.correct(machine.wall, took_ms=0)
    assert clock.now_ms() == ahead
    machine.passes(3_000)
    assert clock.now_ms() == machine.wall


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
