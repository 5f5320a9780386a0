"""Distributions of times that can be added up: how many fell into which bucket. Pure.

Buckets grow by the eighth root of 2, so a quantile read from them is off by 4.5 % at most, however
many days or clients were added up before. Counts are exact and the same each time, which samples
and the usual sketches are not.
"""

from collections.abc import Mapping
from math import ceil, exp2, log2

A_DOUBLING = 8
"""So many buckets until a time has doubled."""


def milliseconds_of(number: int) -> float:
    """The middle of a bucket: what each time in it is taken for."""
    return exp2((number + 0.5) / A_DOUBLING) - 1


def begin_of(number: int) -> float:
    """The shortest time of a bucket, in milliseconds."""
    return exp2(number / A_DOUBLING) - 1


def attempts_of(number: int) -> int:
    """Where a bucket is of numbers of attempts: the fewest of it. Up to 15 it is the only one."""
    return ceil(round(begin_of(number), 6))


def quantile(counts: Mapping[int, int], share: float) -> float | None:
    """The time, in milliseconds, that `share` of all didn't exceed; None of nothing."""
    rank = share * sum(counts.values())
    below = 0
    for number in sorted(counts):
        below += counts[number]
        if below >= rank:
            return milliseconds_of(number)
    return None


def within(counts: Mapping[int, int], milliseconds: float) -> int:
    """How many took no longer, to the edge between two buckets that is nearest."""
    edge = round(log2(milliseconds + 1) * A_DOUBLING)
    return sum(count for number, count in counts.items() if number < edge)
