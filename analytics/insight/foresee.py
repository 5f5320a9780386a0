"""Foresee how much there will be, and when a limit is reached: by a trend over eight weeks, apart
from the weekdays. Pure.

The trend is the median of the slopes between each two days (Theil and Sen), so that a few odd days
don't bend it. The same slopes tell how sure it is (Kendall), which asks nothing of how the numbers
are distributed. It foresees that things go on as they do. That they will, it can't know.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import combinations
from math import ceil, sqrt
from statistics import fmean, median

WEEKS = 8
FEWEST_DAYS = 21
DAY = timedelta(days=1)
FARTHEST = DAY * 730
"""The farthest time ahead: what is foreseen for later isn't said."""
SURE = 1.645
"""The half-width of an interval in standard deviations: nine in ten of a normal distribution lie
within."""


@dataclass(frozen=True, slots=True)
class Trend:
    """The level on the last day, weekdays apart; what a day adds, at least, most likely and at
    most; how far the level may be off."""

    day: date
    level: float
    peak: float
    """The highest weekday, as a multiple of the level."""
    low: float
    slope: float
    high: float
    noise: float

    def after(self, days: int) -> tuple[float, float, float]:
        """Return the level after so many days at least, most likely and at most, on an average
        day."""
        low = self.level - self.noise + self.low * days
        high = self.level + self.noise + self.high * days
        return max(low, 0.0), max(self.level + self.slope * days, 0.0), max(high, 0.0)


@dataclass(frozen=True, slots=True)
class Reached:
    """The day on which a limit is reached: at the earliest, most likely, at the latest. None: not
    to be foreseen, as there is no growth or not within two years."""

    earliest: date | None
    expected: date | None
    latest: date | None


def trend_of(values: Mapping[date, float]) -> Trend | None:
    """Return the trend; None where too little is known."""
    last = max(values, default=None)
    if last is None:
        return None
    known = {day: value for day, value in values.items() if last - day < DAY * 7 * WEEKS}
    factors = _factors(known)
    flat = {d: v / factors[d.weekday()] for d, v in known.items() if factors.get(d.weekday())}
    if len(flat) < FEWEST_DAYS:
        return None
    low, slope, high = _slopes(flat)
    at_end = {day: value + slope * (last - day).days for day, value in flat.items()}
    level = median(at_end.values())
    noise = SURE * 1.4826 * median(abs(value - level) for value in at_end.values())
    return Trend(last, level, max(factors.values()), low, slope, high, noise / sqrt(7))


def reach(trend: Trend, limit: float, *, on_peaks: bool) -> Reached:
    """Return when the limit is reached. With `on_peaks` the highest weekday is what counts, else an
    average day."""
    wanted = limit / (trend.peak if on_peaks else 1.0)
    return Reached(
        _when(trend.day, trend.level + trend.noise, trend.high, wanted),
        _when(trend.day, trend.level, trend.slope, wanted),
        _when(trend.day, trend.level - trend.noise, trend.low, wanted),
    )


def _when(day: date, level: float, slope: float, wanted: float) -> date | None:
    if level >= wanted:
        return day
    if slope <= 0:
        return None
    days = (wanted - level) / slope
    return None if days > FARTHEST.days else day + DAY * ceil(days)


def _factors(known: Mapping[date, float]) -> dict[int, float]:
    """Return each weekday's share of an average day. One on which nobody sends has 0: it tells
    nothing."""
    by_weekday: dict[int, list[float]] = {}
    for day, value in known.items():
        by_weekday.setdefault(day.weekday(), []).append(value)
    usual = {number: median(some) for number, some in by_weekday.items()}
    average = fmean(usual.values())
    return {number: value / average for number, value in usual.items()} if average else {}


def _slopes(flat: Mapping[date, float]) -> tuple[float, float, float]:
    days = sorted(flat)
    slopes = sorted((flat[b] - flat[a]) / (b - a).days for a, b in combinations(days, 2))
    return _around(slopes, len(days))


def _around(slopes: Sequence[float], days: int) -> tuple[float, float, float]:
    """Return the middle slope, and the two between which the true one is in nine cases of ten, in
    order."""
    apart = SURE * sqrt(days * (days - 1) * (2 * days + 5) / 18)
    first = max(0, int((len(slopes) - apart) / 2))
    last = min(len(slopes) - 1, ceil((len(slopes) + apart) / 2))
    return slopes[first], median(slopes), slopes[last]
