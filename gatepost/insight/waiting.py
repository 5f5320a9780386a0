"""Makes the section on waiting and attempts: its figures and charts, or why there are none. Pure.

Times of attempts are those of attempts that did not deliver: of a delivery the ledger knows no
beginning.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gatepost.insight.charts import About, Chart, Series, columns
from gatepost.insight.pictures import Card, by_doublings, card_of, none_in
from gatepost.insight.said import STEPS
from gatepost.insight.shapes import Attempts, Reports
from gatepost.insight.words import figure, share

_ONCE = STEPS.index(1)


@dataclass(frozen=True, slots=True)
class Waiting:
    cards: Sequence[Card]
    charts: Sequence[Chart]
    unknown: int
    """The number of the days of which nothing is known."""


def waiting_of(reports: Reports) -> Waiting:
    found = reports.attempts
    if found is None:
        return Waiting([], [], reports.whole.days)
    unknown = reports.whole.days - found.days
    if not _anything(found):
        return Waiting([], [], unknown)
    cards = _times(found, none_in(reports))
    if reports.fewest is not None:
        return Waiting(cards, [_told(found)], unknown)
    charts = [_attempts(found), _waits(found), _took(found)]
    return Waiting([_at_once(found), *cards], charts, unknown)


def _anything(found: Attempts) -> bool:
    measured = (found.first, found.again, found.took)
    return any(map(any, found.messages)) or any(one.times.p95 is not None for one in measured)


def _at_once(found: Attempts) -> Card:
    ended = sum(map(sum, found.messages))
    at_once = found.messages[_ONCE][0]
    return Card("Delivered at once", share(at_once, ended), "at the first attempt, of what ended")


def _times(found: Attempts, none: str) -> list[Card]:
    return [
        card_of("Waited for the first attempt", found.first.times, none),
        card_of("Waited for another attempt", found.again.times, none),
        card_of("Failed attempts took", found.took.times, none),
    ]


def _attempts(found: Attempts) -> Chart:
    series = [
        Series(kind, kind, [float(counts[n]) for counts in found.messages])
        for n, kind in enumerate(("delivered", "failed"))
    ]
    return columns(_about(), series, figure)


def _told(found: Attempts) -> Chart:
    values = [float(sum(counts)) if counts else None for counts in found.messages]
    return columns(_about(), [Series("delivered", "messages that have ended", values)], figure)


def _waits(found: Attempts) -> Chart:
    first = ("p50", "for the first attempt", found.first.buckets)
    again = ("p95", "for another one", found.again.buckets)
    return by_doublings("waits", "How long messages waited in the queue", [first, again])


def _took(found: Attempts) -> Chart:
    failed = ("failed", "attempts", found.took.buckets)
    return by_doublings("took", "How long failed attempts took", [failed])


def _about() -> About:
    return About("attempts", "How many attempts messages took", "Attempts", _labels())


def _labels() -> list[str]:
    """Return the labels of the steps, as 4, 5–9, 10+: short, so that each is there."""
    ends = [*(after - 1 for after in STEPS[1:]), None]
    return [
        f"{begin}+" if end is None else f"{begin}–{end}" if end > begin else f"{begin}"
        for begin, end in zip(STEPS, ends, strict=True)
    ]
