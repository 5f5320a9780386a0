"""SQL for what is concluded from the reports: what was before, and how large the ledger is."""

from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta

from sqlalchemy import Connection, text

from analytics.insight.attained import Answers
from analytics.insight.days import Key
from gatepost.decoding import json_decoder
from gatepost.insight.figures import COUNTS, EVERY, Figures, figures_of

FEWEST_ROWS = 100_000
"""The fewest messages to go by: below that the tables' own pages are most of what the ledger
takes."""
LOOK_BACK = timedelta(days=7)
"""The time before a day in which to look for what a process had answered before it."""
_read_bounds = json_decoder(dict[float, int])


def days_before(
    connection: Connection, day: date, number: int
) -> Iterator[tuple[Key, date, tuple[int, int, int, float | None]]]:
    """Yield for each client and domain, by day: accepted, delivered, failed, and the p95 of its
    times."""
    query = text(
        "SELECT domain, client_id, day, accepted, delivered, failed, p95_ms FROM report_days"
        " FORCE INDEX (ix_report_days_day)"
        " WHERE day >= :first AND day < :day"
    )
    values = {"first": day - timedelta(days=number), "day": day}
    for domain, client, one, accepted, delivered, failed, p95 in connection.execute(query, values):
        yield (domain, client), one, (accepted, delivered, failed, p95)


def whole_days(connection: Connection, until: date, number: int) -> dict[str, dict[date, Figures]]:
    """Return the days up to and including `until`, of each domain and of all."""
    query = text(
        f"SELECT domain, day, {', '.join(COUNTS)}, spread FROM report_days"
        " WHERE day > :first AND day <= :until AND client_id = :every"
    )
    values = {"first": until - timedelta(days=number), "until": until, "every": EVERY}
    found: dict[str, dict[date, Figures]] = {}
    for domain, day, *counts, spread in connection.execute(query, values):
        found.setdefault(domain, {})[day] = figures_of(counts, spread)
    return found


def published_before(connection: Connection, day: date, number: int) -> set[date]:
    query = text("SELECT day FROM lake_manifest WHERE day >= :first AND day < :day")
    values = {"first": day - timedelta(days=number), "day": day}
    return set(connection.execute(query, values).scalars())


def unusual_on(connection: Connection, day: date | None) -> list[str]:
    """Return in words what is unusual, the most unusual first: of all clients, domains and all
    together."""
    query = text(
        "SELECT words FROM report_anomalies WHERE day = :day"
        " ORDER BY ABS(score) DESC, domain, client_id, measure"
    )
    return list(connection.execute(query, {"day": day}).scalars())


def bytes_each(connection: Connection) -> float | None:
    """Return the bytes of a message as the server estimates them, indexes included; None if there
    are too few."""
    query = text(
        "SELECT table_rows, data_length + index_length FROM information_schema.tables"
        " WHERE table_schema = DATABASE() AND table_name = 'messages'"
    )
    row = connection.execute(query).one_or_none()
    if row is None or not row[0] or row[0] < FEWEST_ROWS:
        return None
    return float(row[1]) / float(row[0])


def is_foreseen(connection: Connection, day: date) -> bool:
    query = text("SELECT 1 FROM report_forecasts WHERE day = :day LIMIT 1")
    return connection.scalar(query, {"day": day}) is not None


def attained_on(connection: Connection, day: date, objective: str) -> list[Mapping[str, object]]:
    """Return what was published for the objective, as it stands there."""
    query = text(
        "SELECT day, domain, objective, target_ms, share, good, total FROM report_attainment"
        " WHERE day = :day AND objective = :objective"
    )
    rows = connection.execute(query, {"day": day, "objective": objective}).mappings()
    return [dict(row) for row in rows]


def answers_of(connection: Connection, begin: datetime, end: datetime) -> list[Answers]:
    """Return the answers of these hours; and of the hours before, what had been counted by then."""
    query = text(
        "SELECT hour, process, answered, accepted, within_ms FROM answer_times"
        " WHERE hour >= :before AND hour < :end"
    )
    rows = connection.execute(query, {"before": begin - LOOK_BACK, "end": end})
    return [Answers(row[0], row[1], row[2], row[3], _read_bounds(row[4])) for row in rows]
