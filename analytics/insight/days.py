"""Add a day's reports up: for each client, each domain and all of them, one row that has all of it.
Pure.

So a page of a year reads a row for each day, and not all the hours, reasons and times.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from itertools import groupby
from operator import itemgetter

import msgspec

from gatepost.insight.figures import COUNTS, EVERY, OF_AN_HOUR, Figures, Spread, Tries, together

Rows = Iterable[Mapping[str, object]]
Key = tuple[str, str]
"""A domain and a client; EVERY in place of either."""


def add_up(reports: Mapping[str, Rows]) -> dict[Key, Figures]:
    """Add up the rows of a day's report tables, which are given by their names."""
    clients = _by_client(reports)
    of_domain: dict[str, list[Figures]] = {}
    for (domain, _), figures in clients.items():
        of_domain.setdefault(domain, []).append(figures)
    domains = {(domain, EVERY): together(parts) for domain, parts in of_domain.items()}
    every = {(EVERY, EVERY): together(domains.values())} if domains else {}
    return {**clients, **domains, **every}


def rows_of(day: date, figures: Mapping[Key, Figures]) -> Rows:
    """Return the rows as they stand in the ledger, in an order that stays."""
    return [
        {
            "domain": domain,
            "day": day,
            "client_id": client,
            **{name: getattr(one, name) for name in COUNTS},
            "p95_ms": one.p95_ms,
            "spread": msgspec.json.encode(one.spread).decode(),
        }
        for (domain, client), one in sorted(figures.items())
    ]


def _by_client(reports: Mapping[str, Rows]) -> dict[Key, Figures]:
    """Add up by client. A client's rows lie beside each other in each report: so only one client's
    are held at a time."""
    found: dict[Key, Figures] = {}
    for key, pieces in groupby(_pieces(reports), key=itemgetter(0)):
        figures = together(figures for _, figures in pieces)
        found[key] = together((found[key], figures)) if key in found else figures
    return found


def _pieces(reports: Mapping[str, Rows]) -> Iterator[tuple[Key, Figures]]:
    """Yield what each row by itself adds to its client's day."""
    for row in reports["report_hours"]:
        counts = {name: _int(row[name]) for name in COUNTS}
        hours = {_int(row["hour"]): [counts[name] for name in OF_AN_HOUR]}
        yield _key(row), Figures(**counts, spread=Spread(hours=hours, tries=Tries()))
    for row in reports["report_failures"]:
        yield _key(row), Figures(spread=Spread(reasons={str(row["reason"]): _int(row["failed"])}))
    for row in reports["report_delivery_times"]:
        yield _key(row), Figures(spread=Spread(times=_bucket(row, "delivered")))
    for key, tries in _tries(reports):
        yield key, Figures(spread=Spread(tries=tries))


def _tries(reports: Mapping[str, Rows]) -> Iterator[tuple[Key, Tries]]:
    for row in reports["report_attempts"]:
        ended = {name: _bucket(row, name) for name in ("delivered", "failed")}
        yield _key(row), Tries(**ended)
    for row in reports["report_attempt_times"]:
        yield _key(row), Tries(took=_bucket(row, "retried", "failed"))
    for row in reports["report_queue_times"]:
        yield _key(row), Tries(**{str(row["wait"]): _bucket(row, "waits")})


def _bucket(row: Mapping[str, object], *names: str) -> dict[int, int]:
    """Return what the row has counted, by its bucket; nothing if it counted none."""
    count = sum(_int(row[name]) for name in names)
    return {_int(row["bucket"]): count} if count else {}


def _key(row: Mapping[str, object]) -> Key:
    return str(row["domain"]), str(row["client_id"])


def _int(value: object) -> int:
    assert isinstance(value, int)
    return value
