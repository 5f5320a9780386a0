"""Decide whether the service has kept to its targets on a day. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from analytics.settings import Targets
from gatepost.insight.figures import Figures
from gatepost.reports.times import within

DELIVERY, ACCEPTANCE = "delivery", "acceptance"


@dataclass(frozen=True, slots=True)
class Attained:
    """The outcome for one target: of `total` so many were good, and `share` of them should be."""

    objective: str
    target_ms: int
    share: float
    good: int
    total: int


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of a proxy's process since its start, when it was heard last in an hour: posts of
    a message, those of them that were accepted, and how many took no longer than so many
    milliseconds."""

    hour: datetime
    process: str
    answered: int
    accepted: int
    within_ms: Mapping[float, int]


def delivery(figures: Figures, targets: Targets) -> Attained:
    """Return how many were delivered in time; what failed, and what still waits when the night
    comes, was not."""
    total = figures.delivered + figures.failed + figures.waiting
    good = within(figures.spread.times, targets.delivery_seconds * 1000)
    limit = round(targets.delivery_seconds * 1000)
    return Attained(DELIVERY, limit, targets.delivery_share, good, total)


def acceptance(rows: Iterable[Answers], begin: datetime, targets: Targets) -> Attained:
    """Return how many answers of the hours from `begin` on were quick; rows of before say what was
    counted already."""
    good = total = 0
    for now, before in _with_last(rows):
        if now.hour >= begin:
            total += now.answered - (before.answered if before else 0)
            good += _good(now, targets) - (_good(before, targets) if before else 0)
    return Attained(ACCEPTANCE, targets.accept_ms, targets.accept_share, good, total)


def _with_last(rows: Iterable[Answers]) -> Iterator[tuple[Answers, Answers | None]]:
    last: dict[str, Answers] = {}
    for row in sorted(rows, key=lambda one: one.hour):
        yield row, last.get(row.process)
        last[row.process] = row


def _good(row: Answers, targets: Targets) -> int:
    """Count the good answers by the nearest bound that was counted and isn't above the target:
    never too many."""
    bounds = [bound for bound in row.within_ms if bound <= targets.accept_ms]
    return row.within_ms[max(bounds)] if bounds else 0
