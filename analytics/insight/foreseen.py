"""The forecasts for a domain, or for all: their volume, and when the whole gateway's limits are
reached; in words. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from analytics.insight.foresee import FARTHEST, Reached, Trend, reach, trend_of
from analytics.settings import Capacity
from gatepost.insight.figures import EVERY, Figures
from gatepost.insight.words import figure

WEEKS_AHEAD = 4
GIGABYTE = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Forecast:
    target: str
    at_most: float | None
    at_present: float
    a_week: float | None
    reached: Reached
    words: str


@dataclass(frozen=True, slots=True)
class Room:
    """The bytes that a message takes in the ledger, and for how long; None where too few are there
    to say."""

    bytes_each: float | None
    kept_days: int


def forecasts(
    domain: str, days: Mapping[date, Figures], capacity: Capacity, room: Room
) -> Iterator[Forecast]:
    trend = trend_of({day: float(one.accepted) for day, one in days.items()})
    if trend is not None:
        yield _volume(trend)
    if domain == EVERY:
        if capacity.messages_per_second is not None:
            yield _rate(days, capacity.messages_per_second)
        if capacity.ledger_gigabytes is not None:
            yield _size(trend, capacity.ledger_gigabytes, room)


def _volume(trend: Trend) -> Forecast:
    low, likely, high = trend.after(7 * WEEKS_AHEAD)
    words = (
        f"About {figure(round(trend.level))} messages on an average day now; in four weeks"
        f" {figure(round(likely))} ({figure(round(low))} to {figure(round(high))}), if it goes on"
        " as in the last eight."
    )
    nowhere = Reached(None, None, None)
    return Forecast("volume", None, trend.level, trend.slope * 7, nowhere, words)


def _rate(days: Mapping[date, Figures], limit: float) -> Forecast:
    """Foresee the rate by the busiest hour of each day, as its average a second: what came within
    one second, the ledger's reports don't know."""
    trend = trend_of({day: _busiest(one) / 3600 for day, one in days.items()})
    what = f"{figure(limit)} messages a second, over the busiest hour of the busiest weekday,"
    if trend is None:
        return _unknown("rate", limit, what)
    return _limit("rate", limit, trend, trend.peak, what)


def _size(trend: Trend | None, limit: float, room: Room) -> Forecast:
    what = f"{figure(limit)} GB of messages in the ledger"
    if trend is None or room.bytes_each is None:
        return _unknown("size", limit, what)
    each_day = room.bytes_each * room.kept_days / GIGABYTE
    what += f" ({figure(room.bytes_each)} bytes each, kept for {room.kept_days} days)"
    scaled = Trend(
        trend.day, trend.level * each_day, 1.0, trend.low * each_day, trend.slope * each_day,
        trend.high * each_day, trend.noise * each_day,
    )  # fmt: skip
    return _limit("size", limit, scaled, 1.0, what)


def _limit(target: str, limit: float, trend: Trend, peak: float, what: str) -> Forecast:
    found = reach(trend, limit, on_peaks=True)
    now = trend.level * peak
    words = f"{_first_letter(what)} {_when(found, trend.day)} It is at {figure(now)} now."
    return Forecast(target, limit, now, trend.slope * peak * 7, found, words)


def _unknown(target: str, limit: float, what: str) -> Forecast:
    words = f"{_first_letter(what)} can't be foreseen yet: three weeks must be known."
    return Forecast(target, limit, 0.0, None, Reached(None, None, None), words)


def _when(found: Reached, day: date) -> str:
    if found.expected == day:
        return "is reached already."
    if found.earliest is None:
        return f"won't be reached within {FARTHEST.days // 365} years, if it goes on like this."
    if found.expected is None:
        return f"may be reached from {found.earliest} on, though most likely not within two years."
    until = f"{found.latest}" if found.latest else "a day that nobody can tell"
    return f"is reached about {found.expected} (between {found.earliest} and {until})."


def _busiest(figures: Figures) -> int:
    return max((counts[0] for counts in figures.spread.hours.values()), default=0)


def _first_letter(text: str) -> str:
    return text[:1].upper() + text[1:]
