"""The days that a run has to do, and when a day is done for good. Pure.

A message belongs to the day, in UTC, of the time in its id. It waits for max_lifetime at most, so a
day may change until that long after its end; then it is sealed, once none of its messages waits any
more.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

from analytics.errors import ClockDoubted
from gatepost.ids import first_id_at

DAY = timedelta(days=1)
DAY_MS = 86_400_000
CLOCKS_MAY_DIFFER = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Span:
    """The ids of a stretch of time: from the first one, up to but not including the end."""

    first: bytes
    end: bytes


def starts_at(day: date) -> datetime:
    """Return the day's beginning as a naive UTC time, as the ledger's are."""
    return datetime(day.year, day.month, day.day)


def ids_of(day: date) -> Span:
    begin = _ms(day)
    return Span(first_id_at(begin), first_id_at(begin + DAY_MS))


def parts_of(day: date, count: int) -> list[Span]:
    """Divide the day's ids into so many equal stretches; all of them together are the day."""
    begin = _ms(day)
    bounds = [first_id_at(begin + DAY_MS * n // count) for n in range(count + 1)]
    return [Span(*pair) for pair in pairwise(bounds)]


def day_of(message_id: bytes) -> date:
    return datetime.fromtimestamp(int.from_bytes(message_id[:6], "big") / 1000, UTC).date()


def due(
    today: date, published: Mapping[date, bool], first: date | None, watched: int
) -> list[date]:
    """Return the whole days that are not sealed yet, the oldest first.

    `published` says of each day whether it's sealed, `first` is the day of the ledger's first
    message. Where nothing was published and no message is there, yesterday is a day of zero
    messages. Some of the `watched` last days may never have been published, though later ones were:
    by a clock that ran ahead. They are due as well.
    """
    yesterday = today - DAY
    before = [day for day in published if day <= yesterday]
    began = min(first or yesterday, yesterday)
    next_one = max(before) + DAY if before else began
    begin = min(next_one, max(began, yesterday - DAY * watched))
    days = [begin + DAY * n for n in range((yesterday - begin).days + 1)]
    unsealed = [day for day in before if not published[day]]
    return sorted({*unsealed, *(day for day in days if day not in published)})


def missing(now: datetime, published: Collection[date], first: date | None) -> list[date]:
    """Return whole days that were not published by noon of the next one, the oldest first: since
    the first published day or, where there is none, since the day of the ledger's first message."""
    begin, end = min(published, default=first), (now - timedelta(hours=12)).date()
    days = [begin + DAY * n for n in range((end - begin).days)] if begin else []
    return [day for day in days if day not in published]


def may_be_sealed(
    day: date, now: datetime, open_for: timedelta, first_published: datetime | None
) -> bool:
    """Return whether the day has been open for so long after its end that its messages can wait no
    more, and a night has passed since it was first published.

    That night is for a clock that ran ahead and was set back: what it published too early is open
    still. The rule goes by days, so that a run that is repeated leaves what the first one left.
    """
    seen_before = first_published is not None and first_published.date() < now.date()
    return seen_before and now >= starts_at(day) + DAY + open_for


def to_watch(today: date, sealed: Iterable[date], watched: int) -> list[date]:
    """Return the sealed days to look at: the last `watched` days every night. Earlier days, which
    the ledger may keep for years, have their turn: each once in as many nights."""
    ages = ((day, (today - day).days) for day in sealed)
    return [day for day, age in ages if age <= watched or age % watched == 0]


def demand_sane(now: datetime, ledgers: datetime, days: Sequence[date], at_once: int) -> None:
    """Refuse to go by a clock that is off: days would be sealed before their messages came."""
    if abs(now - ledgers) > CLOCKS_MAY_DIFFER:
        raise ClockDoubted(
            f"This machine says {now:%Y-%m-%d %H:%M} UTC and the ledger's {ledgers:%Y-%m-%d %H:%M}."
            " Set the one that is wrong."
        )
    if len(days) > at_once:
        raise ClockDoubted(
            f"{len(days)} days are due, from {days[0]} to {days[-1]}. If no clock has jumped,"
            " run with --catch-up."
        )


def _ms(day: date) -> int:
    return int(starts_at(day).replace(tzinfo=UTC).timestamp() * 1000)
