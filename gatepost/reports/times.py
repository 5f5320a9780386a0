"""Reads distributions of times that can be added up: how many fell into which bucket. Pure.

Buckets grow by the eighth root of 2, so a quantile read from them is off by 4.5 % at most, however
many days or clients were added up before. Counts are exact and the same each time, which samples
and the usual sketches are not.
"""

from collections.abc import Mapping
from math import ceil, exp2, log2

A_DOUBLING = 8
"""The number of buckets until a time has doubled."""


def milliseconds_of(number: int) -> float:
    """Return the middle of a bucket, in milliseconds: what each time in it is taken for."""
    return exp2((number + 0.5) / A_DOUBLING) - 1


def begin_of(number: int) -> float:
    """Return the shortest time of a bucket, in milliseconds."""
    return exp2(number / A_DOUBLING) - 1


def attempts_of(number: int) -> int:
    """Return the fewest attempts of a bucket, where buckets are of numbers of attempts. Up to 15 it
    is the only number in the bucket."""
    return ceil(round(begin_of(number), 6))


def quantile(counts: Mapping[int, int], share: float) -> float | None:
    """Return the time, in milliseconds, that `share` of all didn't exceed; None if there are
    none."""
    rank = share * sum(counts.values())
    below = 0
    for number in sorted(counts):
        below += counts[number]
        if below >= rank:
            return milliseconds_of(number)
    return None


def within(counts: Mapping[int, int], milliseconds: float) -> int:
    """Return how many took no longer, up to the nearest edge between two buckets."""
    edge = round(log2(milliseconds + 1) * A_DOUBLING)
    return sum(count for number, count in counts.items() if number < edge)
