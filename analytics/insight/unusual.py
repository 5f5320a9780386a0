"""Find what isn't usual about a day: against the four weeks before it, by weekday. Pure.

What is usual on a Tuesday is the median of the Tuesdays before. How much it varies is the median
of how far each of those days was from what is usual on its own weekday, as a share of that: a bad
week-end among them moves neither. A day stands out when it is both many times that far away and, as
people would say, far: no alarm is worth it for less.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from math import sqrt
from statistics import median

from gatepost.insight.words import figure, milliseconds, weekday

WEEKS = 4
FEWEST_ALIKE = 3
"""The number of days of the same weekday that must be known, or nobody can say what is usual."""
FEWEST_DAYS = 14
STANDS_OUT = 5.0
"""The distance that stands out, as a robust z-score: for a client that varies by a fifth from day
to day, a false alarm in some twenty years (tests/unit/analytics/test_unusual.py)."""
FAR = 0.3
"""The distance that is far, as a share of what is usual."""
NORMAL, EIGHT_OF_TEN = 1.4826, 1 / 1.2816
"""The factors that make the median of distances, and what eight of ten don't exceed, the standard
deviation that they stand for. The larger of both counts: of 28 days one alone is too small now and
then."""
ROUGH = 1.6
"""The factor that widens the measured spread: days are compared with a median that they are part
of, which makes distances too short."""
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure. `least`: nobody is told of a difference below it. `count`: chance alone makes it
    vary."""

    name: str
    least: float
    count: bool


ACCEPTED = Measure("accepted", 50, True)
FAILED = Measure("failed", 20, True)
P95 = Measure("delivery_p95", 1_000, False)
MEASURES = (ACCEPTED, FAILED, P95)


@dataclass(frozen=True, slots=True)
class Unusual:
    measure: Measure
    value: float
    usual: float
    spread: float
    score: float


def judge(
    measure: Measure, day: date, value: float | None, before: Mapping[date, float | None]
) -> Unusual | None:
    """Judge a value; return None where it is as usual, or where nobody can say."""
    known = {one: was for one, was in before.items() if was is not None and _recent(one, day)}
    alike = [was for one, was in known.items() if one.weekday() == day.weekday()]
    if value is None or len(alike) < FEWEST_ALIKE or len(known) < FEWEST_DAYS:
        return None
    usual = median(alike)
    spread = _spread(measure, usual, known)
    far = abs(value - usual)
    if far < max(measure.least, FAR * usual) or far < STANDS_OUT * spread:
        return None
    if value < usual and measure is not ACCEPTED:
        return None  # nobody minds fewer failures, or that it is fast
    return Unusual(measure, value, usual, spread, (value - usual) / spread)


def in_words(found: Unusual, day: date, who: str) -> str:
    """Say what is unusual, like "client X sent 3 messages on a Tuesday, where 1,200 ± 80 are
    usual"."""
    on = f"on a {weekday(day)}"
    if found.measure is P95:
        usual = f"{milliseconds(found.usual)} ± {milliseconds(found.spread)}"
        took = f"took longer than {milliseconds(found.value)} to deliver {on}"
        return f"{who}: one message in twenty {took}, where {usual} is usual"
    verb = "sent" if found.measure is ACCEPTED else "had"
    what = "messages" if found.measure is ACCEPTED else "failed messages"
    usual = f"{figure(found.usual)} ± {figure(found.spread)}"
    return f"{who} {verb} {figure(found.value)} {what} {on}, where {usual} are usual"


def _recent(one: date, day: date) -> bool:
    return day - DAY * 7 * WEEKS <= one < day


def _spread(measure: Measure, usual: float, known: Mapping[date, float]) -> float:
    """Return the spread in units of the value; it is never less than chance makes, or a twentieth
    of what is usual."""
    distances = []
    for weekday_ in range(7):
        alike = [was for one, was in known.items() if one.weekday() == weekday_]
        distances += _relative(alike)
    distances.sort()
    typical = ROUGH * usual * _deviation(distances) if distances else 0.0
    chance = sqrt(max(usual, 1.0)) if measure.count else 0.0
    return max(typical, chance, usual / 20, 1.0)


def _relative(alike: Sequence[float]) -> list[float]:
    if len(alike) < 2:
        return []
    middle = median(alike)
    return [abs(was - middle) / max(middle, 1.0) for was in alike]


def _deviation(distances: Sequence[float]) -> float:
    eight_of_ten = distances[int(len(distances) * 0.8)]
    return max(NORMAL * median(distances), EIGHT_OF_TEN * eight_of_ten)
