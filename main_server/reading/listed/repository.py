"""SQL for lists of messages. Each walks along one index, newest id first, and no further than it
was told: no question of a person may read the ledger from end to end."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, select

from main_server.tables import clients, messages

_c = messages.c

# Written out: there may be many clients, and SQLAlchemy would make each of their parts anew.
_WALK = (
    "(SELECT client_id, message_id, status FROM messages FORCE INDEX (ix_messages_client)"
    " WHERE client_id = %s AND message_id >= %s AND message_id < %s"
    " ORDER BY message_id DESC LIMIT %s)"
)
_CLIENTS_A_STATEMENT = 50


@dataclass(frozen=True, slots=True)
class Span:
    """Ids from `first` on, and before `end`: a range of ids is a range of time."""

    first: bytes
    end: bytes


@dataclass(frozen=True, slots=True)
class Entry:
    """A message in a list; `encrypted_body` for its number, which is shown masked."""

    message_id: bytes
    client_id: str
    domain: str
    status: str
    reason: str | None
    created_at: datetime
    delivered_at: datetime | None
    due_at: datetime
    attempt_count: int
    key_id: int | None
    encrypted_body: bytes | None


@dataclass(frozen=True, slots=True)
class Found:
    """An id that was looked at, with what decides whether it is shown."""

    message_id: bytes
    status: str


def list_clients(connection: Connection, domain: str) -> list[str]:
    query = select(clients.c.client_id).where(clients.c.domain == domain)
    return list(connection.execute(query.order_by(clients.c.client_id)).scalars())


def walk_clients(
    connection: Connection, of: Sequence[str], span: Span, limit: int
) -> list[tuple[str, Found]]:
    """The newest messages of each of these clients: at most `limit` each, in no order."""
    found: list[tuple[str, Found]] = []
    for first in range(0, len(of), _CLIENTS_A_STATEMENT):
        part = of[first : first + _CLIENTS_A_STATEMENT]
        values = tuple(value for one in part for value in (one, span.first, span.end, limit))
        rows = connection.exec_driver_sql(" UNION ALL ".join([_WALK] * len(part)), values)
        found.extend((row[0], Found(row[1], row[2])) for row in rows)
    return found


def walk_status(connection: Connection, status: str, span: Span, limit: int) -> list[Found]:
    """The newest messages of everybody in one state."""
    query = _newest(select(_c.message_id, _c.status), span, limit).where(_c.status == status)
    query = query.with_hint(messages, "FORCE INDEX (ix_messages_status)")
    return [Found(*row) for row in connection.execute(query)]


def walk_all(connection: Connection, span: Span, limit: int) -> list[Found]:
    """The newest messages of everybody."""
    query = _newest(select(_c.message_id, _c.status), span, limit)
    query = query.with_hint(messages, "FORCE INDEX (PRIMARY)")
    return [Found(*row) for row in connection.execute(query)]


def walk_sender(
    connection: Connection,
    macs: Sequence[bytes],
    span: Span,
    limit: int,
    of: Sequence[str] | None,
    status: str | None,
) -> list[Found]:
    """The newest messages of one number, at most `limit` for each key that it was hashed under."""
    query = _newest(select(_c.message_id, _c.status), span, limit)
    query = query.with_hint(messages, "FORCE INDEX (ix_messages_sender)")
    if of is not None:
        query = query.where(_c.client_id.in_(of))
    if status is not None:
        query = query.where(_c.status == status)
    of_each = [query.where(_c.sender_number_hashed == mac) for mac in macs]
    return [Found(*row) for one in of_each for row in connection.execute(one)]


def read_entries(connection: Connection, ids: Sequence[bytes]) -> list[Entry]:
    """The newest first."""
    query = select(*(_c[name] for name in Entry.__slots__)).where(_c.message_id.in_(ids))
    return [Entry(*row) for row in connection.execute(query.order_by(_c.message_id.desc()))]


def _newest(query: Select[Any], span: Span, limit: int) -> Select[Any]:
    within = query.where(_c.message_id >= span.first, _c.message_id < span.end)
    return within.order_by(_c.message_id.desc()).limit(limit)
