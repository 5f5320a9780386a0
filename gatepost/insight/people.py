"""Reads who has sent, from the reports of them (gatepost.reports): how many different senders,
clients that are new, and clients that have fallen silent."""

from dataclasses import replace
from typing import Any

from sqlalchemy import Connection

from gatepost.insight.repository import Asked, published_days
from gatepost.insight.shapes import Newcomer, Senders, Silent
from gatepost.insight.spans import spans_of, unit_of
from gatepost.reports import repository
from gatepost.reports.repository import Scope
from gatepost.reports.repository import Senders as Counted

MOST_NAMED = 20
MOST_DAYS_OF_ALL = 31
"""The most days for which senders of all domains together are counted: there is a sketch for each
domain and each day."""


def people_of(connection: Connection, asked: Asked) -> dict[str, Any]:
    scope = Scope(asked.first, asked.last, asked.domain, asked.client_id)
    return {
        **_senders(connection, asked, scope),
        "newcomers": [
            Newcomer(one.client_id, str(one.first_day))
            for one in repository.new_clients(connection, scope)[:MOST_NAMED]
        ],
        "silent": _silent(connection, asked),
    }


def _senders(connection: Connection, asked: Asked, scope: Scope) -> dict[str, Any]:
    if asked.domain is None and (asked.last - asked.first).days >= MOST_DAYS_OF_ALL:
        return {"senders": None, "senders_by_place": []}
    whole = repository.senders(connection, scope).get(())
    return {
        "senders": _shown(whole),
        "senders_by_place": [_shown(one) for one in _by_place(connection, asked, scope)],
    }


def _by_place(connection: Connection, asked: Asked, scope: Scope) -> list[Counted | None]:
    spans = spans_of(asked)
    if unit_of(asked) == "day":
        found = repository.senders(connection, scope, ("day",))
        return [found.get((days[0],)) for _, days in spans]
    months = (replace(scope, first=days[0], last=days[-1]) for _, days in spans)
    return [repository.senders(connection, one).get(()) for one in months]


def _shown(found: Counted | None) -> Senders | None:
    return Senders(found.number, found.upper_bound) if found else None


def _silent(connection: Connection, asked: Asked) -> list[Silent]:
    """Return the clients that were silent on the last of the days that was published."""
    day = max(published_days(connection, asked.first, asked.last), default=None)
    if day is None:
        return []
    return [
        Silent(one.client_id, str(one.last_day), one.usual)
        for one in repository.silent_clients(connection, day, asked.domain)
        if asked.client_id in (None, one.client_id)
    ][:MOST_NAMED]
