"""Puts together the reports of a range of days, from what was read of them."""

from datetime import timedelta

from sqlalchemy import Connection

from gatepost.insight import repository
from gatepost.insight.figures import NOTHING, OF_AN_HOUR, Figures, together
from gatepost.insight.people import people_of
from gatepost.insight.repository import Asked, Days
from gatepost.insight.said import attempts_in, counts_in, period_of, times_in
from gatepost.insight.shapes import Busy, OfPlace, Reports
from gatepost.insight.spans import spans_of, unit_of

DAY = timedelta(days=1)
MOST_GROUPS = 50
FOUR_WEEKS = 28
MOST_BUSY = 5


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
        whole=period_of(len(own), whole),
        before=period_of(len(before), together(before.values())) if before else None,
        places=places_of(asked, own),
        hours=[whole.spread.hours.get(hour, [0] * len(OF_AN_HOUR)) for hour in range(24)],
        reasons=dict(whole.spread.reasons),
        buckets=dict(whole.spread.times),
        attempts=attempts_in(own.values(), whole),
        grouped_by="client" if asked.domain else "domain",
        groups=groups,
        more_groups=more,
        **people_of(connection, asked),
        busiest=busiest_of(own),
        unusual=repository.read_unusual(connection, asked),
        foreseen=[] if asked.client_id else repository.read_foreseen(connection, asked),
        attained=[] if asked.client_id else repository.read_attained(connection, asked),
    )


def places_of(asked: Asked, days: Days) -> list[OfPlace]:
    """Return each day of the range, or each month, also those of which nothing is known."""
    return [
        _place(place, [days[day] for day in within if day in days])
        for place, within in spans_of(asked)
    ]


def busiest_of(days: Days) -> list[Busy]:
    """Return the hours in which most was accepted; of equal ones the later first."""
    hours = [
        Busy(str(day), hour, counts[0])
        for day, figures in days.items()
        for hour, counts in figures.spread.hours.items()
        if counts[0]
    ]
    return sorted(hours, key=lambda one: (one.accepted, one.day, one.hour), reverse=True)[
        :MOST_BUSY
    ]


def _place(place: str, parts: list[Figures]) -> OfPlace:
    whole = together(parts)
    counts = counts_in(whole) if parts else None
    return OfPlace(place, counts, times_in(whole.spread.times), dict(whole.spread.reasons))


def _with_before(asked: Asked) -> Asked:
    return Asked(asked.first - DAY * FOUR_WEEKS, asked.last, asked.domain, asked.client_id)
