"""Conclude all that there is from a day's reports, and put it into the ledger with them, in their
transaction.

So a day is never there without it, and whatever publishes a day anew (a later night, a rebuild)
concludes anew. A conclusion goes by the days before as they are published by then. Where it can't
go by the same facts again it stays as it was published (I13): what was foreseen goes by how large
the ledger was on that night, and how long answers took is forgotten after a while.
"""

from collections.abc import Collection, Iterator, Mapping
from datetime import date, datetime
from typing import TypeVar

from sqlalchemy import Connection

from analytics.days import DAY, starts_at
from analytics.insight import attained, foresee, foreseen, repository, unusual
from analytics.insight.attained import ACCEPTANCE, Attained
from analytics.insight.days import Key, Rows, add_up, rows_of
from analytics.insight.foreseen import Room
from analytics.insight.unusual import ACCEPTED, FAILED, MEASURES, P95
from analytics.ledger.repository import replace_report
from analytics.settings import Aims
from gatepost.insight.figures import EVERY, NOTHING, Figures
from gatepost.wire.vitals import ANSWERS_KEPT

_COMPARED_DAYS = 7 * unusual.WEEKS
_FORESEEN_DAYS = 7 * foresee.WEEKS
_FEWEST_DELIVERED = 100
"""The fewest deliveries for a p95: of fewer, the slowest in twenty are four or five, and say
nothing."""
Values = Mapping[str, float | None]
K = TypeVar("K")
V = TypeVar("V")


def conclude(
    connection: Connection, day: date, reports: Mapping[str, Rows], aims: Aims, now: datetime
) -> None:
    figures = add_up(reports)
    replace_report(connection, "report_days", day, rows_of(day, figures))
    replace_report(connection, "report_anomalies", day, list(_anomalies(connection, day, figures)))
    if not repository.is_foreseen(connection, day):
        replace_report(connection, "report_forecasts", day, list(_forecasts(connection, day, aims)))
    rows = [*_delivery(day, figures, aims), *_acceptance(connection, day, aims, now)]
    replace_report(connection, "report_attainment", day, rows)


def _anomalies(
    connection: Connection, day: date, figures: Mapping[Key, Figures]
) -> Iterator[Mapping[str, object]]:
    before = _history(connection, day)
    for key in sorted({*figures, *before}):
        own, values = before.get(key, {}), _values_of(figures.get(key, NOTHING))
        for measure in MEASURES:
            past = {one: was[measure.name] for one, was in own.items()}
            found = unusual.judge(measure, day, values[measure.name], past)
            if found is not None:
                yield _anomaly(key, day, found)


def _anomaly(key: Key, day: date, found: unusual.Unusual) -> Mapping[str, object]:
    domain, client = key
    who = f"client {client}" if client else f"domain {domain}" if domain else "all domains together"
    return {
        "day": day,
        "domain": domain,
        "client_id": client,
        "measure": found.measure.name,
        "value": found.value,
        "usual": found.usual,
        "spread": found.spread,
        "score": round(found.score, 2),
        "words": unusual.in_words(found, day, who),
    }


def _history(connection: Connection, day: date) -> dict[Key, dict[date, Values]]:
    found: dict[Key, dict[date, Values]] = {}
    for key, one, (accepted, delivered, failed, p95) in repository.days_before(
        connection, day, _COMPARED_DAYS
    ):
        found.setdefault(key, {})[one] = _values(accepted, delivered, failed, p95)
    published = repository.published_before(connection, day, _COMPARED_DAYS)
    return _with_silent_days(found, published, _values(0, 0, 0, None))


def _with_silent_days(
    found: Mapping[K, Mapping[date, V]], published: Collection[date], nothing: V
) -> dict[K, dict[date, V]]:
    """Fill in days of silence: on a day that was published, and on which somebody who was known
    sent nothing, they sent 0. Days before somebody was first seen say nothing about them."""
    filled = {}
    for key, own in found.items():
        since = min(own)
        filled[key] = {one: nothing for one in published if one > since} | dict(own)
    return filled


def _values_of(figures: Figures) -> Values:
    return _values(figures.accepted, figures.delivered, figures.failed, figures.p95_ms)


def _values(accepted: int, delivered: int, failed: int, p95: float | None) -> Values:
    enough = delivered >= _FEWEST_DELIVERED
    return {ACCEPTED.name: accepted, FAILED.name: failed, P95.name: p95 if enough else None}


def _forecasts(connection: Connection, day: date, aims: Aims) -> Iterator[Mapping[str, object]]:
    room = Room(repository.bytes_each(connection), aims.kept_days)
    days = repository.whole_days(connection, day, _FORESEEN_DAYS)
    published = repository.published_before(connection, day + DAY, _FORESEEN_DAYS)
    for domain, known in sorted(_with_silent_days(days, published, NOTHING).items()):
        for one in foreseen.forecasts(domain, known, aims.capacity, room):
            yield {
                "day": day,
                "domain": domain,
                "target": one.target,
                "at_most": one.at_most,
                "at_present": one.at_present,
                "a_week": one.a_week,
                "earliest": one.reached.earliest,
                "expected": one.reached.expected,
                "latest": one.reached.latest,
                "words": one.words,
            }


def _delivery(
    day: date, figures: Mapping[Key, Figures], aims: Aims
) -> Iterator[Mapping[str, object]]:
    for (domain, client), one in sorted(figures.items()):
        if client == EVERY:
            yield _attained(day, domain, attained.delivery(one, aims.targets))


def _acceptance(
    connection: Connection, day: date, aims: Aims, now: datetime
) -> list[Mapping[str, object]]:
    """Return how quickly posts were answered; but as it was published, where what processes had
    said before the day is forgotten: all that one has answered since its start would be of this
    day, or nothing at all."""
    begin = starts_at(day)
    if begin - repository.LOOK_BACK < now - ANSWERS_KEPT:
        return repository.attained_on(connection, day, ACCEPTANCE)
    answers = repository.answers_of(connection, begin, begin + DAY)
    return [_attained(day, EVERY, attained.acceptance(answers, begin, aims.targets))]


def _attained(day: date, domain: str, one: Attained) -> Mapping[str, object]:
    return {
        "day": day,
        "domain": domain,
        "objective": one.objective,
        "target_ms": one.target_ms,
        "share": one.share,
        "good": one.good,
        "total": one.total,
    }
