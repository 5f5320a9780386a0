"""Makes the charts of a report, and sets its figures beside those of the four weeks before.
Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gatepost.insight.charts import About, Chart, Series, columns, lines
from gatepost.insight.shapes import OfPlace, Period, Reports, Senders, Times
from gatepost.insight.words import figure, milliseconds, reason, share
from gatepost.reports.times import A_DOUBLING, begin_of

MOST_REASONS = 5
_HOURS = [f"{hour:02}:00" for hour in range(24)]


@dataclass(frozen=True, slots=True)
class Card:
    """A figure, and what it was before."""

    name: str
    value: str
    more: str


def charts_of(reports: Reports) -> list[Chart]:
    """Return the charts of a report; for one day its hours, and no course of days."""
    course = [_volume(reports), _times(reports)] if len(reports.places) > 1 else []
    if reports.fewest is not None:
        return [*course, *([_accepted_by_hour(reports)] if reports.hours else [])]
    failures = [_failures(reports)] if reports.reasons else []
    senders = [_senders(reports)] if any(reports.senders_by_place) and course else []
    took = ("delivered", "delivered", reports.buckets)
    distribution = by_doublings("distribution", "How long deliveries took", [took])
    return [*course, distribution, _hours(reports), *failures, *senders]


def cards_of(reports: Reports) -> list[Card]:
    now, before = reports.whole, reports.before
    counts = now.counts
    accepted = Card("Accepted", figure(counts.accepted), _daily(now, before, "accepted"))
    within = card_of("Delivered within", now.times, none_in(reports))
    if reports.fewest is not None:
        return [accepted, within]
    done = counts.delivered + counts.failed
    return [
        accepted,
        Card("Delivered", figure(counts.delivered), _daily(now, before, "delivered")),
        Card("Failed", figure(counts.failed), f"{share(counts.failed, done)} of what ended"),
        Card("Tried again", figure(counts.retries), _daily(now, before, "retries")),
        within,
        *([_different(reports.senders)] if reports.senders else []),
    ]


def none_in(reports: Reports) -> str:
    """Return what is said where there are no times."""
    return "none" if reports.fewest is None else "none, or too few to be told"


def card_of(name: str, times: Times, none: str) -> Card:
    if times.p95 is None:
        return Card(name, milliseconds(None), none)
    half, most = _unbroken(times.p50), _unbroken(times.p99)
    more = f"19 of 20; half within {half}, 99 of 100 within {most}"
    return Card(name, milliseconds(times.p95), more)


def _different(senders: Senders) -> Card:
    """Return the card of different senders. They are counted by sketches, which are off by a little
    and know no number."""
    if not senders.upper_bound:
        return Card("Different senders", figure(senders.number), "about: to 2 in 100")
    words = "upper bound: who has sent before and after a change of keys counts twice"
    return Card("Different senders", f"at most {figure(senders.number)}", words)


def _unbroken(value: float | None) -> str:
    """Return a time that stays on one line with its unit."""
    return milliseconds(value).replace(" ", "\N{NO-BREAK SPACE}")


def _daily(now: Period, before: Period | None, name: str) -> str:
    """Return a figure by day, so that a week can be held against four."""
    if not now.days:
        return "no day of it is published"
    own = getattr(now.counts, name) / now.days
    text = f"{figure(round(own, 1))} a day"
    if before is None or not before.days:
        return text
    was = getattr(before.counts, name) / before.days
    if not was:
        return f"{text}, none in the four weeks before"
    change = 100 * (own - was) / was
    if abs(change) < 1:
        return f"{text}, as in the four weeks before"
    how = "more" if change > 0 else "less"
    return f"{text}, {abs(change):.0f} % {how} than in the four weeks before"


def _volume(reports: Reports) -> Chart:
    about = About("volume", "Messages", _what(reports), _labels(reports))
    if reports.fewest is not None:
        accepted = _series("delivered", "accepted", reports.places, "accepted")
        return columns(about, [accepted], figure)
    series = [
        _series("delivered", "delivered", reports.places, "delivered"),
        _series("failed", "failed", reports.places, "failed"),
        Series("other", "waiting, erased or repeated", [_rest(one) for one in reports.places]),
    ]
    return columns(about, series, figure)


def _rest(one: OfPlace) -> float | None:
    if one.counts is None:
        return None
    return one.counts.accepted - one.counts.delivered - one.counts.failed


def _times(reports: Reports) -> Chart:
    places = reports.places
    series = [
        Series("p50", "half within", [one.times.p50 for one in places]),
        Series("p95", "19 of 20 within", [one.times.p95 for one in places]),
        Series("p99", "99 of 100 within", [one.times.p99 for one in places]),
    ]
    about = About("times", "From acceptance to delivery", _what(reports), _labels(reports))
    return lines(about, series, milliseconds)


def by_doublings(
    name: str, title: str, parts: Sequence[tuple[str, str, Mapping[int, int]]]
) -> Chart:
    """Return a chart of how long something took, each part by its kind and its words. Its columns
    are doublings: what is read from single buckets would be noise."""
    found = [Counter[int]() for _ in parts]
    for sums, (*_, buckets) in zip(found, parts, strict=True):
        for bucket, count in buckets.items():
            sums[bucket // A_DOUBLING] += count
    seen = {n for sums in found for n in sums}
    steps = range(min(seen), max(seen) + 1) if seen else range(0)
    labels = [f"up to {milliseconds(begin_of((n + 1) * A_DOUBLING))}" for n in steps]
    series = [
        Series(kind, words, [float(sums[n]) for n in steps])
        for sums, (kind, words, _) in zip(found, parts, strict=True)
    ]
    return columns(About(name, title, "Time", labels), series, figure)


def _hours(reports: Reports) -> Chart:
    """Return the chart of messages by the hour of their acceptance."""
    done = [Series("delivered", "delivered", [float(one[1]) for one in reports.hours])]
    done.append(Series("failed", "failed", [float(one[2]) for one in reports.hours]))
    rest: list[float | None] = [float(one[0] - one[1] - one[2]) for one in reports.hours]
    done.append(Series("other", "waiting, erased or repeated", rest))
    return columns(About("hours", "Hours of the day (UTC)", "Hour", _HOURS), done, figure)


def _accepted_by_hour(reports: Reports) -> Chart:
    values = [float(one[0]) if one else None for one in reports.hours]
    about = About("hours", "Hours of the day (UTC)", "Hour", _HOURS)
    return columns(about, [Series("delivered", "accepted", values)], figure)


def _failures(reports: Reports) -> Chart:
    """Return the chart of failures: the most frequent reasons, each with a colour of its own, and
    all others together."""
    ranked = sorted(reports.reasons, key=lambda one: (-reports.reasons[one], one))
    shown, others = ranked[:MOST_REASONS], ranked[MOST_REASONS:]
    series = [
        Series(f"reason{n}", reason(one), [_failed(place, [one]) for place in reports.places])
        for n, one in enumerate(shown, 1)
    ]
    if others:
        values = [_failed(place, others) for place in reports.places]
        series.append(Series("other", "for other reasons", values))
    about = About("failures", "Failures by reason", _what(reports), _labels(reports))
    return columns(about, series, figure)


def _senders(reports: Reports) -> Chart:
    bound = any(one.upper_bound for one in reports.senders_by_place if one)
    words = "at most (upper bound)" if bound else "about"
    values = [float(one.number) if one else None for one in reports.senders_by_place]
    about = About("senders", "Different senders", _what(reports), _labels(reports))
    return columns(about, [Series("p95", words, values)], figure)


def _failed(place: OfPlace, reasons: Sequence[str]) -> float | None:
    if place.counts is None:
        return None
    return float(sum(place.reasons.get(one, 0) for one in reasons))


def _series(kind: str, words: str, places: Sequence[OfPlace], name: str) -> Series:
    values = [None if one.counts is None else float(getattr(one.counts, name)) for one in places]
    return Series(kind, words, values)


def _what(reports: Reports) -> str:
    return "Day" if reports.by == "day" else "Month"


def _labels(reports: Reports) -> list[str]:
    """Return the labels of places: days without their year, where it goes without saying."""
    cut = reports.by == "day" and reports.first[:4] == reports.last[:4]
    return [one.place[5:] if cut else one.place for one in reports.places]
