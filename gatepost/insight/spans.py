"""Divides a range of days into its days, or, if it is long, into months. Pure."""

from collections.abc import Sequence
from datetime import date, timedelta

from gatepost.insight.repository import Asked

MOST_BY_DAY = 92
"""The most days of a range of which each is a place; in a longer one each month is."""


def unit_of(asked: Asked) -> str:
    return "day" if (asked.last - asked.first).days < MOST_BY_DAY else "month"


def spans_of(asked: Asked) -> list[tuple[str, Sequence[date]]]:
    """Return each place by its name, with its days."""
    size = 10 if unit_of(asked) == "day" else 7
    found: dict[str, list[date]] = {}
    for n in range((asked.last - asked.first).days + 1):
        day = asked.first + timedelta(days=n)
        found.setdefault(str(day)[:size], []).append(day)
    return list(found.items())
