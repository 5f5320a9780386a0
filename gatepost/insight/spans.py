"""How a range of days is divided: into its days, or, if it is long, into months. Pure."""

from collections.abc import Sequence
from datetime import date, timedelta

from gatepost.insight.repository import Asked

MOST_BY_DAY = 92
"""Of a longer range of days each month is a place."""


def unit_of(asked: Asked) -> str:
    return "day" if (asked.last - asked.first).days < MOST_BY_DAY else "month"


def spans_of(asked: Asked) -> list[tuple[str, Sequence[date]]]:
    """Each place by its name, with its days."""
    size = 10 if unit_of(asked) == "day" else 7
    found: dict[str, list[date]] = {}
    for n in range((asked.last - asked.first).days + 1):
        day = asked.first + timedelta(days=n)
        found.setdefault(str(day)[:size], []).append(day)
    return list(found.items())
