"""Message ids: UUIDv7 that only grow, whatever the clock does."""

from itertools import pairwise
from threading import Thread
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatepost.clock import LEAP_MS, TIMES_TO_BELIEVE, Clock
from gatepost.ids import MessageIds, first_id_at, id_ms


class SetClock(Clock):
    """A clock that tells what it is told."""

    def __init__(self, *times: int) -> None:
        super().__init__()
        self.times = list(times)

    def now_ms(self) -> int:
        return self.times.pop(0) if len(self.times) > 1 else self.times[0]


def test_an_id_is_a_uuid_of_version_7_that_carries_its_time() -> None:
    message_id = MessageIds(SetClock(1_760_000_000_123)).new()
    assert message_id.version == 7
    assert message_id.variant == "specified in RFC 4122"
    assert id_ms(message_id) == 1_760_000_000_123


def test_ten_thousand_ids_of_one_millisecond_grow_and_borrow_the_next() -> None:
    source = MessageIds(SetClock(1_000))
    made = [source.new() for _ in range(10_000)]
    assert made == sorted(set(made))
    assert {one.version for one in made} == {7}
    # Between 2048 and 4096 ids fit in a millisecond.
    assert 1_000 + 10_000 // 4096 <= id_ms(made[-1]) <= 1_000 + 10_000 // 2048


def test_a_borrowed_millisecond_is_not_used_again_when_the_clock_reaches_it() -> None:
    clock = SetClock(1_000)
    source = MessageIds(clock)
    while id_ms(last := source.new()) == 1_000:
        pass
    clock.times = [1_001]
    assert last < source.new()


@given(st.lists(st.integers(min_value=0, max_value=LEAP_MS), min_size=1, max_size=50))
def test_ids_grow_whatever_the_clock_says(times: list[int]) -> None:
    source = MessageIds(SetClock(*times))
    made = [source.new() for _ in times]
    assert all(one < two for one, two in pairwise(made))
    assert all(one.version == 7 for one in made)


def test_ids_come_back_with_a_clock_that_was_led_astray() -> None:
    clock = Clock()
    source, hours, now = MessageIds(clock), 72 * 3_600_000, clock.now_ms()
    for ahead in (hours, 0):
        for _ in range(TIMES_TO_BELIEVE):
            clock.correct(now + ahead, 0)
        off = id_ms(source.new()) - now - ahead
        assert 0 <= off < LEAP_MS


@given(st.integers(min_value=0, max_value=2**48 - 2))
def test_a_range_of_time_is_a_range_of_ids(ms: int) -> None:
    made = MessageIds(SetClock(ms)).new().bytes
    assert first_id_at(ms) <= made < first_id_at(ms + 1)


def test_two_sources_never_make_the_same_id() -> None:
    made: list[UUID] = []

    def make() -> None:
        source = MessageIds(SetClock(1_000))
        made.extend(source.new() for _ in range(2_000))

    threads = [Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 8_000


@pytest.mark.parametrize("ms", [0, 1, 2**48 - 1])
def test_the_boundary_of_a_millisecond_has_sixteen_bytes(ms: int) -> None:
    assert len(first_id_at(ms)) == 16
    assert id_ms(UUID(bytes=first_id_at(ms))) == ms
