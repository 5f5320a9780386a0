"""The reports of a range of days, put together from what was read of them."""

from datetime import timedelta

from sqlalchemy import Connection

from gatepost.insight import repository
from gatepost.insight.figures import COUNTS, NOTHING, OF_AN_HOUR, Figures, together
from gatepost.insight.repository import Asked, Days
from gatepost.insight.shapes import Counts, OfPlace, Period, Reports, Times

DAY = timedelta(days=1)
MOST_GROUPS = 50
FOUR_WEEKS = 28
MOST_BY_DAY = 92
"""Of a longer range of days each month is a place."""


def read_reports(connection: Connection, asked: Asked) -> Reports:
    days = repository.read_days(connection, _with_before(asked))
    published = repository.published_days(connection, asked.first - DAY * FOUR_WEEKS, asked.last)
    known = {day: days.get(day, NOTHING) for day in published}
    own = {day: figures for day, figures in known.items() if day >= asked.first}
    before = {day: figures for day, figures in known.items() if day < asked.first}
    begin, until = repository.published_span(connection)
    groups, more = repository.read_groups(connection, asked, MOST_GROUPS)
    whole = together(own.values())
    return Reports(
        domain=asked.domain,
        client=asked.client_id,
        first=str(asked.first),
        last=str(asked.last),
        by=unit_of(asked),
        published_first=str(begin) if begin else None,
        published_until=str(until) if until else None,
        last_run=repository.last_run(connection),
        whole=_period(len(own), whole),
        before=_period(len(before), together(before.values())) if before else None,
        places=places_of(asked, own),
        hours=[whole.spread.hours.get(hour, [0] * len(OF_AN_HOUR)) for hour in range(24)],
        reasons=dict(whole.spread.reasons),
        buckets=dict(whole.spread.times),
        grouped_by="client" if asked.domain else "domain",
        groups=groups,
        more_groups=more,
        senders=[],
        unusual=repository.read_unusual(connection, asked),
        foreseen=[] if asked.client_id else repository.read_foreseen(connection, asked),
        attained=[] if asked.client_id else repository.read_attained(connection, asked),
    )


def unit_of(asked: Asked) -> str:
    return "day" if (asked.last - asked.first).days < MOST_BY_DAY else "month"


def places_of(asked: Asked, days: Days) -> list[OfPlace]:
    """Each day of the range, or each month: those of which nothing is known as well."""
    size = 10 if unit_of(asked) == "day" else 7
    found: dict[str, list[Figures]] = {}
    for n in range((asked.last - asked.first).days + 1):
        day = asked.first + DAY * n
        parts = found.setdefault(str(day)[:size], [])
        if day in days:
            parts.append(days[day])
    return [_place(place, parts) for place, parts in found.items()]


def _place(place: str, parts: list[Figures]) -> OfPlace:
    whole = together(parts)
    counts = _counts(whole) if parts else None
    return OfPlace(place, counts, _times(whole), dict(whole.spread.reasons))


def _period(days: int, whole: Figures) -> Period:
    return Period(days, _counts(whole), _times(whole))


def _counts(figures: Figures) -> Counts:
    return Counts(*(getattr(figures, name) for name in COUNTS))


def _times(figures: Figures) -> Times:
    return Times(figures.p50_ms, figures.p95_ms, figures.p99_ms)


def _with_before(asked: Asked) -> Asked:
    return Asked(asked.first - DAY * FOUR_WEEKS, asked.last, asked.domain, asked.client_id)
