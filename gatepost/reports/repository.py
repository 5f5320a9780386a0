"""SQL for reading the reports of the nightly pipeline, of any stretch of days.

A week, a month or a year is merged here, from what was published of its days: counts are added up,
sketches are merged. No message is read again for it, and no month can come to differ from its days.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import date, timedelta
from statistics import median
from typing import Any

from sqlalchemy import Connection, bindparam, text

from gatepost.reports.sketch import estimate, merge

BY = ("day", "hour", "domain", "client_id")
"""The columns that reports are divided by; hours are of the day, in UTC."""
_OWN = ("reason", "bucket")
SILENT_AFTER_WEEKS = 4

Key = tuple[Any, ...]
"""The values of the columns that a report is divided by, in the order asked for; () if it is
divided by none."""
Counts = dict[int, int]
"""The counts, by bucket (gatepost.reports.times)."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The days of a report, both included, and the domain and client that it is of; None for
    all."""

    first: date
    last: date
    domain: str | None = None
    client_id: str | None = None


@dataclass(frozen=True, slots=True)
class Day:
    """A day that was published."""

    day: date
    sealed: bool
    late_changes: int


@dataclass(frozen=True, slots=True)
class Hours:
    """The number of messages that were accepted, and what became of them; `failed` ones were
    dead-lettered.

    `retries` are attempts after the first.
    """

    accepted: int
    delivered: int
    failed: int
    erased: int
    duplicates: int
    waiting: int
    retries: int


@dataclass(frozen=True, slots=True)
class Senders:
    """The number of different senders of messages.

    With `upper_bound` there are MACs under several keys, and a sender who has sent under two of
    them is counted twice.
    """

    number: int
    upper_bound: bool


@dataclass(frozen=True, slots=True)
class Busy:
    """An hour, in UTC, and how many messages were accepted in it."""

    day: date
    hour: int
    accepted: int


@dataclass(frozen=True, slots=True)
class Seen:
    """A client, and the first and the last day on which it has sent anything."""

    domain: str
    client_id: str
    first_day: date
    last_day: date


@dataclass(frozen=True, slots=True)
class Silent:
    """A client that has sent nothing, though it used to on that weekday.

    `usual` is the median of the four weeks before, `weeks` the number of them in which there was
    anything.
    """

    domain: str
    client_id: str
    last_day: date
    usual: int
    weeks: int


def published(connection: Connection, first: date, last: date) -> list[Day]:
    """Return the days that have reports. Of others nothing is known, not even that there was
    nothing."""
    query = text(
        "SELECT day, sealed_at IS NOT NULL, late_changes FROM lake_manifest"
        " WHERE day BETWEEN :first AND :last ORDER BY day"
    )
    rows = connection.execute(query, {"first": first, "last": last})
    return [Day(day, bool(sealed), late) for day, sealed, late in rows]


def hours(connection: Connection, scope: Scope, by: Sequence[str] = ()) -> dict[Key, Hours]:
    values = [field.name for field in fields(Hours)]
    rows = _sums(connection, "report_hours", by, values, scope)
    return {key: Hours(*found) for key, found in rows}


def failures(
    connection: Connection, scope: Scope, by: Sequence[str] = ()
) -> dict[Key, dict[str, int]]:
    """Return the numbers of failed messages, by reason."""
    rows = _sums(connection, "report_failures", [*by, "reason"], ["failed"], scope)
    return _by_last(rows)


def delivery_times(
    connection: Connection, scope: Scope, by: Sequence[str] = ()
) -> dict[Key, Counts]:
    """Return the numbers of delivered messages, by the time that they took from the acceptance
    on."""
    rows = _sums(connection, "report_delivery_times", [*by, "bucket"], ["delivered"], scope)
    return _by_last(rows)


def attempts(connection: Connection, scope: Scope, by: Sequence[str] = ()) -> dict[Key, Counts]:
    """Return the numbers of messages that have ended, by the bucket of how many attempts they
    took."""
    rows = _sums(connection, "report_attempts", [*by, "bucket"], ["delivered", "failed"], scope)
    return _by_last(rows)


def attempt_times(
    connection: Connection, scope: Scope, by: Sequence[str] = ()
) -> dict[Key, Counts]:
    """Return the numbers of attempts that did not deliver, by how long they took."""
    rows = _sums(connection, "report_attempt_times", [*by, "bucket"], ["retried", "failed"], scope)
    return _by_last(rows)


def queue_times(
    connection: Connection, scope: Scope, wait: str, by: Sequence[str] = ()
) -> dict[Key, Counts]:
    """Return the numbers of waits, by how long they were: for the `first` attempt, or for one
    `again`."""
    rows = _sums(connection, "report_queue_times", [*by, "bucket"], ["waits"], scope, wait=wait)
    return _by_last(rows)


def senders(connection: Connection, scope: Scope, by: Sequence[str] = ()) -> dict[Key, Senders]:
    """Return the numbers of different senders, by anything but the hour. A sender that two domains
    know counts in each."""
    of_domains = scope.client_id is None and "client_id" not in by
    condition, given = _where(scope)
    query = text(
        f"SELECT {_columns(by)} hmac_kid, sketch FROM report_senders"
        f" WHERE {condition} AND client_id {'=' if of_domains else '<>'} ''"
    )
    found: dict[Key, dict[bytes, bytes]] = defaultdict(dict)
    for *key, kid, sketch in connection.execute(query, given):
        by_kid = found[tuple(key)]
        by_kid[kid] = merge([by_kid[kid], sketch]) if kid in by_kid else sketch
    return {
        key: Senders(sum(map(estimate, by_kid.values())), upper_bound=len(by_kid) > 1)
        for key, by_kid in found.items()
    }


def busiest_hours(connection: Connection, scope: Scope, limit: int) -> list[Busy]:
    """Return the hours in which most was accepted; of equal ones the later first."""
    condition, given = _where(scope)
    query = text(
        "SELECT day, hour, SUM(accepted) AS together FROM report_hours"
        f" WHERE {condition} GROUP BY day, hour"
        " ORDER BY together DESC, day DESC, hour DESC LIMIT :limit"
    )
    rows = connection.execute(query, {**given, "limit": limit})
    return [Busy(day, hour, int(accepted)) for day, hour, accepted in rows]


def new_clients(connection: Connection, scope: Scope) -> list[Seen]:
    """Return the clients whose first message ever was accepted in these days.

    On the first day that there are reports of, everybody would be new: so nobody is.
    """
    condition, given = _where(scope, day="first_day")
    query = text(
        "SELECT domain, client_id, first_day, last_day FROM report_clients"
        f" WHERE {condition} AND first_day > (SELECT MIN(first_day) FROM report_clients)"
        " ORDER BY first_day, domain, client_id"
    )
    return [Seen(*row) for row in connection.execute(query, given)]


def silent_clients(connection: Connection, day: date, domain: str | None = None) -> list[Silent]:
    """Return the clients that had messages on that weekday in the four weeks before, and none on
    that day.

    Of the four, those count that were published; and if the day itself was not, nobody is silent.
    """
    weeks = [day - timedelta(weeks=n) for n in range(SILENT_AFTER_WEEKS + 1)]
    known = [one for one in weeks if published(connection, one, one)]
    if day not in known:
        return []
    accepted = _accepted(connection, known, domain)
    quiet = {client: of for client, of in accepted.items() if day not in of}
    last = _last_days(connection, domain) if quiet else {}
    return [
        Silent(*client, last[client], round(median(of.get(one, 0) for one in known[1:])), len(of))
        for client, of in sorted(quiet.items())
    ]


def _accepted(
    connection: Connection, days: Sequence[date], domain: str | None
) -> dict[tuple[str, str], dict[date, int]]:
    query = text(
        "SELECT domain, client_id, day, SUM(accepted) FROM report_hours"
        f" WHERE day IN :days{'' if domain is None else ' AND domain = :domain'}"
        " GROUP BY domain, client_id, day"
    ).bindparams(bindparam("days", expanding=True))
    found: dict[tuple[str, str], dict[date, int]] = defaultdict(dict)
    given = {"days": days} | ({} if domain is None else {"domain": domain})
    for of, client_id, day, accepted in connection.execute(query, given):
        found[of, client_id][day] = int(accepted)
    return found


def _last_days(connection: Connection, domain: str | None) -> dict[tuple[str, str], date]:
    condition = "" if domain is None else " WHERE domain = :domain"
    query = text(f"SELECT domain, client_id, last_day FROM report_clients{condition}")
    rows = connection.execute(query, {} if domain is None else {"domain": domain})
    return {(of, client_id): day for of, client_id, day in rows}


def _by_last(rows: Iterable[tuple[Key, Sequence[int]]]) -> dict[Key, dict[Any, int]]:
    """Return the values of each key by its last column, the report's own, which comes behind those
    that were asked for."""
    found: dict[Key, dict[Any, int]] = defaultdict(dict)
    for (*key, own), values in rows:
        found[tuple(key)][own] = sum(values)
    return dict(found)


def _sums(
    connection: Connection,
    table: str,
    by: Sequence[str],
    values: Sequence[str],
    scope: Scope,
    **equal: str,
) -> list[tuple[Key, list[int]]]:
    """Return the sums of these values for each key; none where nothing was reported."""
    condition, given = _where(scope, **equal)
    keys = ", ".join(by) or "NULL"
    query = text(
        f"SELECT {_columns(by)} {', '.join(f'SUM({one})' for one in values)} FROM {table}"
        f" WHERE {condition} GROUP BY {keys} ORDER BY {keys}"
    )
    rows = connection.execute(query, given)
    return [(tuple(row[: len(by)]), [int(one) for one in row[len(by) :]]) for row in rows]


def _columns(by: Sequence[str]) -> str:
    """Return the columns, each with a comma behind it. They stand in statements, so others than
    these are refused."""
    if not {*by} <= {*BY, *_OWN}:
        raise ValueError(f"reports are by {', '.join(BY)}")
    return "".join(f"{name}, " for name in by)


def _where(scope: Scope, day: str = "day", **equal: str) -> tuple[str, dict[str, Any]]:
    chosen = {"domain": scope.domain, "client_id": scope.client_id, **equal}
    given = {name: value for name, value in chosen.items() if value is not None}
    conditions = [f"{day} BETWEEN :first AND :last", *(f"{name} = :{name}" for name in given)]
    return " AND ".join(conditions), {"first": scope.first, "last": scope.last, **given}
