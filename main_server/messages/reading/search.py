"""Lists of messages for a person: newest first, a page at a time.

There are indexes by client, by client and state, and by client and number, and a person's own
clients alone are walked: a page costs the same however many messages there are, and neither it nor
how long it took says anything of anybody else's (I12). What no index narrows down is looked for in
a bounded number of rows: where that isn't enough to fill a page, it says how far back it has
looked, and the next one goes on there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from uuid import UUID

from sqlalchemy import Connection, Engine

from gatepost.errors import CannotOpen, FieldError, Invalid, KeysUnavailable
from gatepost.ids import first_id_at, id_ms
from main_server.keys.service import Keyring
from main_server.messages.reading import list_repository as repository
from main_server.messages.reading.list_repository import Entry, Found, Lane, Span
from main_server.messages.reading.masking import mask
from main_server.messages.reading.opening import open_sealed
from main_server.messages.reading.scope import Asked, clients_within, domain_within
from main_server.people.users.viewer import UserRole, Viewer
from main_server.store.database import transact

PAGE = 50
ROWS_LOOKED_AT = 1_000
"""Rows that are looked at beside the index: each of them may be a page to be read from the disk."""
NEIGHBOURS_LOOKED_AT = 4_000
"""Rows that are looked at where they are read in the order in which they lie, many to a page of the
disk."""
MANY_CLIENTS = 100
"""The most clients that a super-administrator's walk takes one by one; of more, it goes along all
messages."""
_DAYS, _DAY_MS = (1, 4, 16), 86_400_000


@dataclass(frozen=True, slots=True)
class Query:
    """A search that somebody wants. `macs` are of a number: a number itself is in no address."""

    span: Span
    asked: Asked = field(default_factory=Asked)
    status: str | None = None
    macs: Sequence[bytes] = ()
    reason: str | None = None

    @property
    def is_in_rows(self) -> bool:
        """True if no index says it all, so that rows are read."""
        return self.reason is not None or bool(self.macs and self.status)

    def fits(self, found: Found) -> bool:
        if not self.is_in_rows:
            return True
        return self.status in (None, found.status) and self.reason in (None, found.reason)


@dataclass(frozen=True, slots=True)
class Listed:
    entry: Entry
    number: str | None
    """The number, masked; None where it can't be read any more."""


@dataclass(frozen=True, slots=True)
class Unnamed:
    """A page, before the numbers are read."""

    entries: list[Entry]
    before: bytes | None
    full: bool


@dataclass(frozen=True, slots=True)
class Page:
    """A page of messages. `before` is where the following page ends, if there may be more. One that
    isn't `full` then holds less than it could, because it has looked at all that it may."""

    messages: list[Listed]
    before: bytes | None
    full: bool


@dataclass(frozen=True, slots=True)
class Walked:
    """The messages that fit, newest first, complete down to `horizon`, which is None for the whole
    span."""

    found: list[Found]
    horizon: bytes | None


def search(engine: Engine, viewer: Viewer, query: Query) -> Unnamed:
    """Search without the numbers, which only whoever has the keys can tell."""

    def work(connection: Connection) -> tuple[list[Entry], Walked]:
        walked = walk(connection, viewer, query, PAGE + 1)
        ids = [one.message_id for one in walked.found[:PAGE]]
        return repository.read_entries(connection, ids) if ids else [], walked

    entries, walked = transact(engine, work)
    full = len(walked.found) > PAGE
    before = walked.found[PAGE - 1].message_id if full else walked.horizon
    return Unnamed(entries, before, full)


def with_numbers(engine: Engine, keyring: Keyring, page: Unnamed) -> Page:
    listed = [Listed(one, _number_of(engine, keyring, one)) for one in page.entries]
    return Page(listed, page.before, page.full)


def walk(
    connection: Connection, viewer: Viewer, query: Query, most: int, *, rows: bool = False
) -> Walked:
    """Walk by the index that fits best, from the newest id down. With `rows`, these are read even
    where the index alone would do."""
    domain = domain_within(viewer, query.asked)
    clients = clients_within(viewer, query.asked, _clients(connection, viewer, domain, query))
    if clients == []:
        return Walked([], None)
    if clients is None:
        return _walk_all(connection, query, most)
    lanes = [Lane(one, query.status, mac) for one in clients for mac in query.macs or (None,)]
    return _walk_lanes(connection, lanes, query, most, rows or query.is_in_rows)


def _clients(
    connection: Connection, viewer: Viewer, domain: str | None, query: Query
) -> list[str] | None:
    """List the clients to walk; None for everybody's: they aren't walked one by one."""
    if viewer.role is UserRole.USER:
        return [one for one in sorted(viewer.client_ids) if one.startswith(f"{viewer.domain}:")]
    if domain is not None:
        return repository.list_clients(connection, domain)
    if query.status is None:
        return None
    found = repository.list_clients(connection, None, MANY_CLIENTS + 1)
    return found if len(found) <= MANY_CLIENTS else None


def _walk_all(connection: Connection, query: Query, most: int) -> Walked:
    if query.macs:
        words = "say in which domain the number is looked for"
        raise Invalid(errors=[FieldError("/domain", words)])
    if query.status is None:
        return Walked(repository.walk_all(connection, query.span, most), None)
    found = repository.walk_all(connection, query.span, NEIGHBOURS_LOOKED_AT)
    horizon = found[-1].message_id if len(found) == NEIGHBOURS_LOOKED_AT else None
    fits = [one for one in found if one.status == query.status]
    return Walked([one for one in fits if query.reason in (None, one.reason)], horizon)


def _walk_lanes(
    connection: Connection, lanes: Sequence[Lane], query: Query, most: int, rows: bool
) -> Walked:
    """Walk part of the time after part, until there is enough: mostly there is after the newest
    one."""
    found: list[Found] = []
    left = ROWS_LOOKED_AT
    for part in _parts(query.span):
        ids, horizon = _newest(connection, lanes, part, left if rows else most)
        looked = [Found(one, None, None) for one in ids]
        if rows and ids:
            looked = repository.read_found(connection, ids)
        found += [one for one in looked if query.fits(one)]
        left -= len(ids)
        if horizon is not None or len(found) >= most:
            return Walked(found[:most], horizon)
    return Walked(found, None)


def _newest(
    connection: Connection, lanes: Sequence[Lane], span: Span, most: int
) -> tuple[list[bytes], bytes | None]:
    """Return the newest ids of all lanes, at most so many; and the last of them if there may be
    more.

    Each lane is asked for as many as are its share; those that may have more among the newest, for
    twice as many and so on: so no more of the index is read than a few times `most`, however much
    one of them has and however little the others.
    """
    each = 1 + most // len(lanes)
    going = dict.fromkeys(lanes, span)
    known: dict[Lane, list[bytes]] = {}
    while going:
        looked = repository.walk_lanes(connection, going, each)
        for lane, ids in looked.items():
            known.setdefault(lane, []).extend(ids)
        newest = sorted(chain.from_iterable(known.values()), reverse=True)[:most]
        edge = newest[-1] if len(newest) == most else span.first
        full = {lane: ids[-1] for lane, ids in looked.items() if len(ids) == each}
        going = {lane: Span(span.first, last) for lane, last in full.items() if last > edge}
        each *= 2
    more = len(newest) == most
    return newest, newest[-1] if more else None


def _parts(span: Span) -> Iterator[Span]:
    """Divide a span, from the newest on, into parts each longer than the one before. Each lane is
    entered once in each day of a part: a part of thirty days costs thirty times what one day
    does."""
    end = span.end
    for days in _DAYS:
        start_ms = id_ms(UUID(bytes=end)) - days * _DAY_MS
        if start_ms <= id_ms(UUID(bytes=span.first)):
            break
        yield Span(first_id_at(start_ms), end)
        end = first_id_at(start_ms)
    yield Span(span.first, end)


def _number_of(engine: Engine, keyring: Keyring, entry: Entry) -> str | None:
    try:
        return mask(open_sealed(engine, keyring, UUID(bytes=entry.message_id), entry).sender_number)
    except (CannotOpen, KeysUnavailable):
        return None
