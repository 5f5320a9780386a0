"""Brings what is counted into the shapes in which it is said. Pure."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping

from gatepost.insight.figures import COUNTS, Figures, Tries
from gatepost.insight.shapes import Attempts, Counts, Measured, Period, Times
from gatepost.reports.times import attempts_of, quantile

STEPS = (0, 1, 2, 3, 4, 5, 10)
"""The steps of attempts: so many at least, and fewer than the next. Up to the last, buckets tell
each number."""


def counts_in(figures: Figures) -> Counts:
    return Counts(*(getattr(figures, name) for name in COUNTS))


def times_in(buckets: Mapping[int, int]) -> Times:
    return Times(*(quantile(buckets, share) for share in (0.5, 0.95, 0.99)))


def period_of(days: int, whole: Figures) -> Period:
    return Period(days, counts_in(whole), times_in(whole.spread.times))


def attempts_in(days: Iterable[Figures], whole: Figures) -> Attempts | None:
    """Return the attempts of these days, which are `whole` together. Days that an earlier release
    has added up are not in it."""
    tries = whole.spread.tries
    if tries is None:
        return None
    return Attempts(
        sum(one.spread.tries is not None for one in days),
        _measured(tries.first),
        _measured(tries.again),
        _measured(tries.took),
        _messages(tries),
    )


def step_of(bucket: int) -> int:
    """Return the place in STEPS of the step that a bucket of attempts belongs to."""
    return bisect_right(STEPS, attempts_of(bucket)) - 1


def _measured(buckets: Mapping[int, int]) -> Measured:
    return Measured(times_in(buckets), dict(buckets))


def _messages(tries: Tries) -> list[list[int]]:
    found = [[0, 0] for _ in STEPS]
    for place, counts in enumerate((tries.delivered, tries.failed)):
        for bucket, count in counts.items():
            found[step_of(bucket)][place] += count
    return found
