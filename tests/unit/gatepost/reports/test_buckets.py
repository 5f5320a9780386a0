"""What a bucket of the reports says."""

from math import floor, log2

import pytest
from hypothesis import given
from hypothesis import strategies as some

from gatepost.reports.times import A_DOUBLING, attempts_of


def bucket(number: int) -> int:
    """As Spark puts it: analytics.reports.times.bucket."""
    return floor(log2(number + 1) * A_DOUBLING)


def test_up_to_fifteen_attempts_are_told_exactly() -> None:
    assert [attempts_of(bucket(number)) for number in range(16)] == list(range(16))


@given(number=some.integers(16, 10_000))
def test_more_are_told_as_not_more_than_they_were(number: int) -> None:
    assert attempts_of(bucket(number)) <= number
    assert attempts_of(bucket(number)) == pytest.approx(number, rel=0.09)
