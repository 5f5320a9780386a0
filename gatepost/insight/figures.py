"""The figures of a stretch of time: numbers that can be added up, and what is read from them.

A month is the sum of its days, and all domains together are the sum of each. Pure.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from gatepost.decoding import json_decoder
from gatepost.reports.times import quantile

K = TypeVar("K", int, str)
V = TypeVar("V")
COUNTS = ("accepted", "delivered", "failed", "erased", "duplicates", "waiting", "retries")
OF_AN_HOUR = ("accepted", "delivered", "failed")
EVERY = ""
"""The name that means all of a domain's clients in the place of a client, and all domains in the
place of a domain."""


class Tries(msgspec.Struct, frozen=True):
    """Counts by bucket: of waits in the queue for the `first` attempt and for one `again`; of
    messages that were `delivered` or have `failed`, by how many attempts they took; and of how long
    attempts `took` that did not deliver."""

    first: dict[int, int] = {}
    again: dict[int, int] = {}
    delivered: dict[int, int] = {}
    failed: dict[int, int] = {}
    took: dict[int, int] = {}


class Spread(msgspec.Struct, frozen=True):
    """The spread of messages over hours (each with the counts of OF_AN_HOUR), reasons and buckets
    of times."""

    hours: dict[int, list[int]] = {}
    reasons: dict[str, int] = {}
    times: dict[int, int] = {}
    tries: Tries | None = None
    """The tries; None for a day that was added up by a release which did not know of them."""


NOWHERE = Spread()


@dataclass(frozen=True, slots=True)
class Figures:
    accepted: int = 0
    delivered: int = 0
    failed: int = 0
    erased: int = 0
    duplicates: int = 0
    waiting: int = 0
    retries: int = 0
    spread: Spread = NOWHERE

    @property
    def p95_ms(self) -> float | None:
        return quantile(self.spread.times, 0.95)


NOTHING = Figures(spread=Spread(tries=Tries()))
"""The figures of a day on which somebody is known to have sent nothing."""
_read_spread = json_decoder(Spread)


def figures_of(counts: Iterable[int], spread: str) -> Figures:
    """Return figures from a row of report_days, with the counts in the order of COUNTS."""
    return Figures(**dict(zip(COUNTS, counts, strict=True)), spread=_read_spread(spread))


def together(parts: Iterable[Figures]) -> Figures:
    """Return the sum of the figures of days or of clients, the same in whatever order they come."""
    sums = dict.fromkeys(COUNTS, 0)
    hours: dict[int, list[int]] = {}
    reasons: dict[str, int] = {}
    times: dict[int, int] = {}
    tries = _Tried()
    for part in parts:
        for name in COUNTS:
            sums[name] += getattr(part, name)
        for hour, counts in part.spread.hours.items():
            before = hours.get(hour, [0] * len(OF_AN_HOUR))
            hours[hour] = [a + b for a, b in zip(before, counts, strict=True)]
        _add(reasons, part.spread.reasons)
        _add(times, part.spread.times)
        tries.add(part.spread.tries)
    spread = Spread(_in_order(hours), _in_order(reasons), _in_order(times), tries.sum())
    return Figures(**sums, spread=spread)


class _Tried:
    """The sum of what is known of tries."""

    def __init__(self) -> None:
        self._counts: dict[str, dict[int, int]] = {}

    def add(self, tries: Tries | None) -> None:
        if tries is not None:
            for name in Tries.__struct_fields__:
                _add(self._counts.setdefault(name, {}), getattr(tries, name))

    def sum(self) -> Tries | None:
        if not self._counts:
            return None
        return Tries(**{name: _in_order(counts) for name, counts in self._counts.items()})


def _add(to: dict[K, int], counts: Mapping[K, int]) -> None:
    for key, count in counts.items():
        to[key] = to.get(key, 0) + count


def _in_order(found: Mapping[K, V]) -> dict[K, V]:
    return {key: found[key] for key in sorted(found)}
