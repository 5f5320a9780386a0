"""Distributions of times that can be added up: how many fell into which bucket.

Buckets grow by the eighth root of 2, so a quantile read from them is off by 4.5 % at most, however
many days or clients were added up before. Counts are exact and the same each time, which samples
and the usual sketches are not.
"""

from collections.abc import Mapping
from math import exp2

from pyspark.sql import Column
from pyspark.sql import functions as f

A_DOUBLING = 8
"""So many buckets until a time has doubled."""


def bucket(milliseconds: Column) -> Column:
    """Of a time; what two clocks made negative took no time."""
    longest = f.greatest(milliseconds, f.lit(0)) + f.lit(1)
    return f.floor(f.log2(longest) * f.lit(A_DOUBLING)).cast("int")


def milliseconds_of(number: int) -> float:
    """The middle of a bucket: what each time in it is taken for."""
    return exp2((number + 0.5) / A_DOUBLING) - 1


def quantile(counts: Mapping[int, int], share: float) -> float | None:
    """The time, in milliseconds, that `share` of all didn't exceed; None of nothing."""
    rank = share * sum(counts.values())
    below = 0
    for number in sorted(counts):
        below += counts[number]
        if below >= rank:
            return milliseconds_of(number)
    return None
