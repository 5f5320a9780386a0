"""Lists of messages for a person: newest first, a page at a time.

A page looks at no more than `LOOKED_AT` entries of an index, however many messages there are: where
that isn't enough to fill it, it says how far back it has looked, and the next one goes on there.
Only a person's own clients are walked, so that neither a page nor how far it came says anything of
anybody else's messages (I12).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from sqlalchemy import Connection, Engine

from gatepost.errors import CannotOpen, KeysUnavailable
from gatepost.ids import first_id_at, id_ms
from main_server.database import transact
from main_server.keys.service import Keyring
from main_server.reading.listed import repository
from main_server.reading.listed.repository import Entry, Found, Span
from main_server.reading.masking import mask
from main_server.reading.opening import open_sealed
from main_server.reading.scope import Asked, clients_within, domain_within
from main_server.users.viewer import UserRole, Viewer

PAGE = 50
LOOKED_AT = 4_000
_DAYS, _DAY_MS = (1, 4, 16), 86_400_000


@dataclass(frozen=True, slots=True)
class Query:
    """What somebody looks for. `macs` are of a number: a number itself is in no address."""

    span: Span
    asked: Asked = field(default_factory=Asked)
    status: str | None = None
    macs: Sequence[bytes] = ()


@dataclass(frozen=True, slots=True)
class Listed:
    entry: Entry
    number: str | None
    """Masked; None where it can't be read any more."""


@dataclass(frozen=True, slots=True)
class Page:
    """`before` is where the following page ends, if there may be more. One that isn't `full` then
    holds less than it could, because it has looked at all that it may."""

    messages: list[Listed]
    before: bytes | None
    full: bool


@dataclass(frozen=True, slots=True)
class _Walked:
    """Ids that fit, newest first, complete down to `horizon`; None if that is the whole span."""

    ids: list[bytes]
    horizon: bytes | None


def search(engine: Engine, keyring: Keyring, viewer: Viewer, query: Query) -> Page:
    def work(connection: Connection) -> tuple[list[Entry], _Walked]:
        walked = _walk(connection, viewer, query)
        entries = repository.read_entries(connection, walked.ids[:PAGE]) if walked.ids else []
        return entries, walked

    entries, walked = transact(engine, work)
    full = len(walked.ids) > PAGE
    before = walked.ids[PAGE - 1] if full else walked.horizon
    return Page(with_numbers(engine, keyring, entries), before, full)


def with_numbers(engine: Engine, keyring: Keyring, entries: Sequence[Entry]) -> list[Listed]:
    return [Listed(one, _number_of(engine, keyring, one)) for one in entries]


def _walk(connection: Connection, viewer: Viewer, query: Query) -> _Walked:
    """By the index that fits best; each walks from the newest id down."""
    domain = domain_within(viewer, query.asked)
    of_domain = _clients(connection, viewer, domain)
    clients = clients_within(viewer, query.asked, of_domain)
    if clients == []:
        return _Walked([], None)
    if query.macs:
        found = repository.walk_sender(
            connection, query.macs, query.span, PAGE + 1, clients, query.status
        )
        newest = sorted((one.message_id for one in found), reverse=True)
        return _Walked(newest[: PAGE + 1], None)
    if clients is None:
        return _Walked([one.message_id for one in _everybodys(connection, query)], None)
    return _walk_clients(connection, clients, query)


def _clients(connection: Connection, viewer: Viewer, domain: str | None) -> list[str] | None:
    if viewer.role is UserRole.USER:
        return [one for one in sorted(viewer.client_ids) if one.startswith(f"{viewer.domain}:")]
    return None if domain is None else repository.list_clients(connection, domain)


def _everybodys(connection: Connection, query: Query) -> list[Found]:
    if query.status is not None:
        return repository.walk_status(connection, query.status, query.span, PAGE + 1)
    return repository.walk_all(connection, query.span, PAGE + 1)


def _walk_clients(connection: Connection, clients: Sequence[str], query: Query) -> _Walked:
    """Part of the time after part, until there is a page: most are full after the newest one."""
    ids: list[bytes] = []
    left = LOOKED_AT
    for part in _parts(query.span):
        each = PAGE + 1 if query.status is None else max(1, left // len(clients))
        asked = clients
        if query.status is None and len(clients) > PAGE:
            asked = _latest_of(connection, clients, part)
        looked = repository.walk_clients(connection, asked, part, each)
        walked = _merge(looked, each, query.status)
        ids += walked.ids
        left -= len(looked)
        if walked.horizon is not None or len(ids) > PAGE:
            return _Walked(ids[: PAGE + 1], walked.horizon)
    return _Walked(ids, None)


def _parts(span: Span) -> Iterator[Span]:
    """From the newest on, each longer than the one before. Each client is asked for once in each
    day of a part: a part of thirty days costs thirty times what one day does."""
    end = span.end
    for days in _DAYS:
        first = first_id_at(id_ms(UUID(bytes=end)) - days * _DAY_MS)
        if first <= span.first:
            break
        yield Span(first, end)
        end = first
    yield Span(span.first, end)


def _merge(looked: Sequence[tuple[str, Found]], each: int, status: str | None) -> _Walked:
    """Of a client of which not all was looked at, only what it had down to there is known, and so
    of all of them."""
    by_client: dict[str, list[Found]] = {}
    for client, found in looked:
        by_client.setdefault(client, []).append(found)
    cut = [min(f.message_id for f in found) for found in by_client.values() if len(found) == each]
    horizon = max(cut, default=None)
    fits = [
        found.message_id
        for _, found in looked
        if status in (None, found.status) and (horizon is None or found.message_id >= horizon)
    ]
    return _Walked(sorted(fits, reverse=True), horizon)


def _latest_of(connection: Connection, clients: Sequence[str], span: Span) -> list[str]:
    """A page of the newest messages is by those clients whose latest ones are the newest."""
    latest = repository.walk_clients(connection, clients, span, 1)
    latest.sort(key=lambda one: one[1].message_id, reverse=True)
    return [client for client, _ in latest[: PAGE + 1]]


def _number_of(engine: Engine, keyring: Keyring, entry: Entry) -> str | None:
    try:
        return mask(open_sealed(engine, keyring, UUID(bytes=entry.message_id), entry).sender_number)
    except (CannotOpen, KeysUnavailable):
        return None
