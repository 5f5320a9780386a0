"""SQL for lists of messages. Each walks along one index, newest id first, and no further than it
was told: no question of a person may read the ledger from end to end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select

from main_server.store.tables import clients, messages

_c = messages.c

# Written out: there may be many lanes, and SQLAlchemy would make each of their parts anew.
_WALK = (
    "(SELECT %s, message_id FROM messages FORCE INDEX ({index})"
    " WHERE {narrowed}client_id = %s AND message_id >= %s AND message_id < %s"
    " ORDER BY message_id DESC LIMIT %s)"
)
_LANES_A_STATEMENT = 50


@dataclass(frozen=True, slots=True)
class Span:
    """The ids from `first` on, and before `end`: a range of ids is a range of time."""

    first: bytes
    end: bytes


@dataclass(frozen=True, slots=True)
class Lane:
    """One client's entries in an index: all, those in one state, or those of one number."""

    client_id: str
    status: str | None = None
    mac: bytes | None = None

    @property
    def index(self) -> str:
        if self.mac is not None:
            return "ix_messages_sender"
        return "ix_messages_client" if self.status is None else "ix_messages_status"

    @property
    def narrowed(self) -> tuple[str, tuple[str | bytes, ...]]:
        if self.mac is not None:
            return "sender_number_hashed = %s AND ", (self.mac,)
        return ("", ()) if self.status is None else ("status = %s AND ", (self.status,))


@dataclass(frozen=True, slots=True)
class Entry:
    """A message in a list; `encrypted_body` is there for its number, which is shown masked."""

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
    """An id that a walk has come by. Its state and reason are there if the row was read as well."""

    message_id: bytes
    status: str | None
    reason: str | None


def list_clients(connection: Connection, domain: str | None, limit: int | None = None) -> list[str]:
    query = select(clients.c.client_id).order_by(clients.c.client_id).limit(limit)
    if domain is not None:
        query = query.where(clients.c.domain == domain)
    return list(connection.execute(query).scalars())


def walk_lanes(
    connection: Connection, lanes: Mapping[Lane, Span], limit: int
) -> dict[Lane, list[bytes]]:
    """Return the newest of each lane in its span, newest first and at most `limit` each; a lane
    without any is left out. No rows are read, which would cost far more."""
    found: dict[Lane, list[bytes]] = {}
    those = list(lanes.items())
    for first in range(0, len(those), _LANES_A_STATEMENT):
        part, parts, values = those[first : first + _LANES_A_STATEMENT], [], []
        for number, (lane, span) in enumerate(part):
            narrowed, by = lane.narrowed
            parts.append(_WALK.format(index=lane.index, narrowed=narrowed))
            values += [number, *by, lane.client_id, span.first, span.end, limit]
        said = connection.exec_driver_sql(" UNION ALL ".join(parts), tuple(values))
        for number, message_id in said:
            found.setdefault(part[number][0], []).append(message_id)
    for ids in found.values():
        ids.sort(reverse=True)
    return found


def read_found(connection: Connection, ids: Sequence[bytes]) -> list[Found]:
    """Return these messages with their rows, the newest first."""
    query = select(_c.message_id, _c.status, _c.reason).where(_c.message_id.in_(ids))
    return [Found(*row) for row in connection.execute(query.order_by(_c.message_id.desc()))]


def walk_all(connection: Connection, span: Span, limit: int) -> list[Found]:
    """Return the newest messages of everybody, with their rows."""
    query = select(_c.message_id, _c.status, _c.reason)
    query = query.with_hint(messages, "FORCE INDEX (PRIMARY)")
    query = query.where(_c.message_id >= span.first, _c.message_id < span.end)
    return [
        Found(*row) for row in connection.execute(query.order_by(_c.message_id.desc()).limit(limit))
    ]


def read_entries(connection: Connection, ids: Sequence[bytes]) -> list[Entry]:
    """Return the entries of these messages, the newest first."""
    query = select(*(_c[name] for name in Entry.__slots__)).where(_c.message_id.in_(ids))
    return [Entry(*row) for row in connection.execute(query.order_by(_c.message_id.desc()))]
