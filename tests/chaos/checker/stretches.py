"""Stretches of time: when something was wrong, and the calm between."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stretch:
    begin: float
    end: float


def union(stretches: Iterable[Stretch]) -> list[Stretch]:
    """The same time in stretches that don't touch, in order."""
    joined: list[Stretch] = []
    for one in sorted(stretches, key=lambda stretch: stretch.begin):
        if joined and one.begin <= joined[-1].end:
            joined[-1] = Stretch(joined[-1].begin, max(joined[-1].end, one.end))
        else:
            joined.append(one)
    return joined


class Calm:
    """What is left between stretches of trouble."""

    def __init__(self, troubles: Iterable[Stretch]) -> None:
        self._troubles = union(troubles)
        self._ends = [trouble.end for trouble in self._troubles]

    def within(self, begin: float, end: float) -> Iterator[Stretch]:
        """The calm parts of a time, in order."""
        at = begin
        for number in range(bisect_left(self._ends, begin), len(self._troubles)):
            trouble = self._troubles[number]
            if trouble.begin >= end:
                break
            if trouble.begin > at:
                yield Stretch(at, trouble.begin)
            at = max(at, trouble.end)
        if at < end:
            yield Stretch(at, end)

    def is_calm(self, at: float) -> bool:
        number = bisect_left(self._ends, at)
        return number == len(self._troubles) or self._troubles[number].begin > at

    def since(self, at: float) -> float:
        """When the calm in which that instant lies began."""
        number = bisect_left(self._ends, at)
        return self._ends[number - 1] if number else float("-inf")

    def longest(self, begin: float, end: float) -> float:
        """The length of the longest calm part."""
        return max((part.end - part.begin for part in self.within(begin, end)), default=0.0)

    def first_of(self, length: float, since: float) -> float:
        """When, from then on, it has first been calm for so long without a break."""
        for part in self.within(since, float("inf")):
            if part.end - part.begin >= length:
                return part.begin + length
        return float("inf")
