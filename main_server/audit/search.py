"""Looking through the audit log: newest first, a page at a time.

A page looks at no more than `LOOKED_AT` entries of an index, however long the log is: where that
isn't enough to fill it, it says how far back it has looked. A place in the log is a time and how
many entries of just that time were passed: the numbers of entries would tell the administrators of
a domain how much is done in others (I12).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import takewhile

from sqlalchemy import Connection, Engine

from main_server.audit import list_repository as repository
from main_server.audit.chain import Link
from main_server.audit.list_repository import Filters, Looked, Times
from main_server.store.database import transact

PAGE = 50
LOOKED_AT = 4_000
EVER = Times(datetime(2020, 1, 1), datetime(9999, 1, 1))
_MOMENT = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Place:
    """The place where the following page begins: at this time, after so many entries of it."""

    at: datetime
    passed: int


@dataclass(frozen=True, slots=True)
class Query:
    """A question to the audit log; `domain` is None for all domains, and for the entries that are
    of none."""

    domain: str | None = None
    filters: Filters = field(default_factory=Filters)
    times: Times = EVER
    before: Place | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """A page of entries. `before` is where the following one begins, if there may be more. One that
    isn't `full` then holds less than it could, because it has looked at all that it may."""

    links: list[Link]
    before: Place | None
    full: bool


def search(engine: Engine, query: Query) -> Page:
    def work(connection: Connection) -> Page:
        looked, complete = _look(connection, query)
        passed = query.before.passed if query.before else 0
        fits = [(n, one) for n, one in enumerate(looked) if n >= passed and query.filters.fit(one)]
        shown, full = fits[:PAGE], len(fits) > PAGE
        links = repository.read_links(connection, [one.seq for _, one in shown])
        if full:
            return Page(links, _place(looked[: shown[-1][0] + 1]), full=True)
        return Page(links, None if complete or not looked else _place(looked), full=False)

    return transact(engine, work)


def entries(engine: Engine, query: Query) -> Iterator[Link]:
    """Yield all entries that fit, page after page."""
    while True:
        page = search(engine, query)
        yield from page.links
        if page.before is None:
            return
        query = replace(query, before=page.before)


def _look(connection: Connection, query: Query) -> tuple[list[Looked], bool]:
    """Return entries from the place on, newest first and without a gap; and whether these are
    all."""
    passed = query.before.passed if query.before else 0
    times, filters = _times(query), query.filters
    sure = len(filters.given) < 2  # then whatever the walk meets fits
    domains: Sequence[str | None] = [query.domain]
    if query.domain is None:
        latest = repository.list_domains(connection, filters, times)
        domains = _newest(latest, PAGE + 1 + passed if sure else len(latest))
    each = passed + (PAGE + 1 if sure else max(1, LOOKED_AT // max(1, len(domains))))
    walked = [repository.walk(connection, one, filters, times, each) for one in domains]
    cut = [(part[-1].at, part[-1].seq) for part in walked if len(part) == each]
    horizon = max(cut, default=None)
    found = [
        one for part in walked for one in part if horizon is None or (one.at, one.seq) >= horizon
    ]
    found.sort(key=lambda one: (one.at, one.seq), reverse=True)
    return found, horizon is None


def _newest(latest: Sequence[tuple[datetime, str | None]], count: int) -> list[str | None]:
    """Return the domains in which so many of the newest entries must be: those whose latest entries
    are the newest, and those that are level with the last of these."""
    ordered = sorted((at for at, _ in latest), reverse=True)
    edge = ordered[count - 1] if count < len(ordered) else datetime.min
    return [domain for at, domain in latest if at >= edge]


def _times(query: Query) -> Times:
    if query.before is None:
        return query.times
    return Times(query.times.first, min(query.times.end, query.before.at + _MOMENT))


def _place(looked: Sequence[Looked]) -> Place:
    """Return the place after the last of these."""
    at = looked[-1].at
    same = takewhile(lambda one: one.at == at, reversed(looked))
    return Place(at, sum(1 for _ in same))
