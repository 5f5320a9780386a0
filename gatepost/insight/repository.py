"""SQL that reads the reports: what was added up of each day, and what was concluded from it.

All of it goes by the domain and a range of days, which is what its keys begin with: what a page
costs follows the days that it shows, and how many clients a domain has.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import Connection, text

from gatepost.clock import iso, to_ms
from gatepost.insight.figures import COUNTS, EVERY, Figures, figures_of
from gatepost.insight.shapes import Attained, Foreseen, LastRun, OfGroup, Unusual
from gatepost.insight.suppression import OfAll

MOST_UNUSUAL = 50
Days = Mapping[date, Figures]


@dataclass(frozen=True, slots=True)
class Asked:
    """The reports that are asked for: a range of days, of all domains, a domain or a client."""

    first: date
    last: date
    domain: str | None = None
    client_id: str | None = None

    @property
    def values(self) -> dict[str, Any]:
        return {
            "first": self.first,
            "last": self.last,
            "domain": self.domain or EVERY,
            "client": self.client_id or EVERY,
        }


def read_days(connection: Connection, asked: Asked) -> dict[date, Figures]:
    query = text(
        f"SELECT day, {', '.join(COUNTS)}, spread FROM report_days"
        " WHERE domain = :domain AND day BETWEEN :first AND :last AND client_id = :client"
    )
    return {
        row[0]: figures_of(row[1:-1], row[-1]) for row in connection.execute(query, asked.values)
    }


def published_days(connection: Connection, first: date, last: date) -> set[date]:
    query = text("SELECT day FROM lake_manifest WHERE day BETWEEN :first AND :last")
    return set(connection.execute(query, {"first": first, "last": last}).scalars())


def published_span(connection: Connection) -> tuple[date | None, date | None]:
    row = connection.execute(text("SELECT MIN(day), MAX(day) FROM lake_manifest")).one()
    return row[0], row[1]


def read_groups(connection: Connection, asked: Asked, limit: int) -> tuple[list[OfGroup], int]:
    """Return the clients of a domain, or the domains, that have most messages, and the number of
    the others."""
    which, where = _groups_of(asked)
    columns = "SUM(accepted), SUM(delivered), SUM(failed), MAX(p95_ms)"
    query = text(
        f"SELECT {which}, {columns} FROM report_days"
        f" WHERE {where} AND day BETWEEN :first AND :last GROUP BY {which}"
        f" ORDER BY 2 DESC, 1 LIMIT :limit"
    )
    count = text(
        f"SELECT COUNT(DISTINCT {which}) FROM report_days"
        f" WHERE {where} AND day BETWEEN :first AND :last"
    )
    values = {**asked.values, "limit": limit}
    rows = connection.execute(query, values).all()
    groups = [OfGroup(name, int(a), int(d), int(f), p) for name, a, d, f, p in rows]
    number = int(connection.scalar(count, asked.values) or 0) if len(rows) == limit else len(rows)
    return groups, number - len(rows)


def _groups_of(asked: Asked) -> tuple[str, str]:
    if asked.client_id is not None:
        return "client_id", "domain = :domain AND client_id = :client"
    if asked.domain is not None:
        return "client_id", "domain = :domain AND client_id <> ''"
    return "domain", "domain <> '' AND client_id = ''"


def read_days_of_all(connection: Connection, first: date, last: date) -> dict[str, OfAll]:
    """Return all domains together, for each day on which anything was sent."""
    domains = text(
        "SELECT day, domain, accepted FROM report_days"
        " WHERE domain <> '' AND client_id = '' AND day BETWEEN :first AND :last"
    )
    attained = text(
        "SELECT day, objective, target_ms, share, good, total FROM report_attainment"
        " WHERE domain = '' AND day BETWEEN :first AND :last ORDER BY day, objective"
    )
    asked = Asked(first, last)
    by_domain: dict[date, dict[str, int]] = {}
    for day, domain, accepted in connection.execute(domains, asked.values):
        by_domain.setdefault(day, {})[domain] = accepted
    kept: dict[date, list[Attained]] = {}
    for day, *target in connection.execute(attained, asked.values):
        kept.setdefault(day, []).append(Attained(*target))
    return {
        str(day): OfAll(figures, by_domain.get(day, {}), kept.get(day, []))
        for day, figures in read_days(connection, asked).items()
    }


def read_unusual(connection: Connection, asked: Asked) -> list[Unusual]:
    """Return what was unusual, the latest first; for all domains, that of each domain as a whole,
    and of all together."""
    narrowed = " AND domain = :domain" if asked.domain else " AND client_id = ''"
    narrowed += " AND client_id = :client" if asked.client_id else ""
    query = text(
        "SELECT day, domain, client_id, measure, score, words, value, usual FROM report_anomalies"
        f" WHERE day BETWEEN :first AND :last{narrowed}"
        f" ORDER BY day DESC, ABS(score) DESC, domain, client_id, measure LIMIT {MOST_UNUSUAL}"
    )
    rows = connection.execute(query, asked.values)
    return [Unusual(str(row[0]), *row[1:]) for row in rows]


def read_foreseen(connection: Connection, asked: Asked) -> list[Foreseen]:
    """Return what was foreseen on the last of the days that was published, which is nothing for
    whoever has been silent too long."""
    query = text(
        "SELECT target, at_most, at_present, earliest, expected, latest, words"
        " FROM report_forecasts WHERE domain = :domain"
        " AND day = (SELECT MAX(day) FROM lake_manifest WHERE day <= :last) ORDER BY target"
    )
    return [
        Foreseen(row[0], row[1], row[2], _day(row[3]), _day(row[4]), _day(row[5]), row[6])
        for row in connection.execute(query, asked.values)
    ]


def read_attained(connection: Connection, asked: Asked) -> list[Attained]:
    """Return how far targets were kept to. A target that was changed on the way stands there as it
    was, and as it is."""
    query = text(
        "SELECT objective, target_ms, share, SUM(good), SUM(total) FROM report_attainment"
        " WHERE domain = :domain AND day BETWEEN :first AND :last"
        " GROUP BY objective, target_ms, share ORDER BY objective, MAX(day) DESC"
    )
    rows = connection.execute(query, asked.values)
    return [Attained(o, ms, share, int(good), int(total)) for o, ms, share, good, total in rows]


def last_run(connection: Connection) -> LastRun | None:
    query = text(
        "SELECT kind, state, started_at, ended_at, days, row_count, late_changes FROM lake_runs"
        " ORDER BY started_at DESC, run_id DESC LIMIT 1"
    )
    row = connection.execute(query).one_or_none()
    if row is None:
        return None
    kind, state, started, ended, *counts = row
    return LastRun(kind, state, _iso(started), _iso(ended) if ended else None, *counts)


def _day(day: date | None) -> str | None:
    return str(day) if day else None


def _iso(moment: datetime) -> str:
    return iso(to_ms(moment))
