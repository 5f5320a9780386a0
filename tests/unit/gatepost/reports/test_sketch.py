"""Sketches of senders: merging is exact, whatever the order; the estimate is as good as is said."""

from collections.abc import Iterable
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as some

from gatepost.reports.sketch import HIGHEST_RANK, REGISTERS, estimate, merge

NONE = merge([])


def sketch_of(senders: Iterable[str], *, short: bool = True) -> bytes:
    """As the ledger's view and Spark make it of MACs; `short` as long as it is shorter."""
    kept: dict[int, int] = {}
    for sender in senders:
        mac = sha256(sender.encode()).digest()
        register = int.from_bytes(mac[:2]) % REGISTERS
        rank = min(49 - int.from_bytes(mac[2:8]).bit_length(), HIGHEST_RANK)
        kept[register] = max(rank, kept.get(register, 0))
    entries = b"".join(number.to_bytes(2) + bytes([kept[number]]) for number in sorted(kept))
    if short and len(entries) < REGISTERS:
        return entries
    return bytes(kept.get(number, 0) for number in range(REGISTERS))


senders = some.lists(some.integers(0, 5000).map(str), max_size=60)


@given(days=some.lists(senders, max_size=8), seed=some.randoms())
def test_days_make_the_month_in_whatever_order(days: list[list[str]], seed: object) -> None:
    whole = sketch_of((sender for day in days for sender in day), short=False)
    sketches = [sketch_of(day) for day in days]
    assert merge(sketches) == whole
    seed.shuffle(sketches)  # type: ignore[attr-defined]
    weeks = [merge(sketches[:3]), merge(sketches[3:]), *sketches[:1]]
    assert merge(weeks) == whole


@given(
    some.lists(
        some.binary(min_size=8, max_size=8).map(lambda b: bytes(n % 49 for n in b)), max_size=5
    )
)
def test_merged_is_the_highest_of_each_register(few: list[bytes]) -> None:
    whole = [one * (REGISTERS // 8) for one in few]
    assert merge(whole) == bytes(map(max, *whole, NONE, NONE))


@pytest.mark.parametrize("many", [0, 1, 2, 10, 100, 1000, 3000, 10_000, 60_000])
def test_the_estimate_is_off_by_no_more_than_is_said(many: int) -> None:
    """Three standard deviations of 1.6 %; the senders are the same each time."""
    found = estimate(sketch_of(f"+{n}" for n in range(many)))
    assert found == pytest.approx(many, rel=3 * 0.0163)


def test_on_the_average_it_is_not_off() -> None:
    """Where one formula would take over from another, too."""
    for many in (300, 8_000, 12_000):
        found = [estimate(sketch_of(f"{seed}.{n}" for n in range(many))) for seed in range(16)]
        assert sum(found) / len(found) == pytest.approx(many, rel=0.015)


def test_who_sends_every_day_is_one() -> None:
    week = [sketch_of(["+1", "+2", f"+9{day}"]) for day in range(7)]
    assert estimate(merge(week)) == 9


def test_registers_that_are_full_are_counted_as_well() -> None:
    assert estimate(bytes([HIGHEST_RANK - 1, *[HIGHEST_RANK] * (REGISTERS - 1)])) > 10**15
    assert estimate(NONE) == estimate(b"") == 0
