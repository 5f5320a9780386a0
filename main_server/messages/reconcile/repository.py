"""SQL for the reconciler: rows that wait, read once to ask about them and once more to act."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select, text

from main_server.messages.in_state import Place, rows_after
from main_server.store.tables import messages

_LOCK = "gatepost.reconciler"


@dataclass(frozen=True, slots=True)
class Waiting:
    """A row that says `queued`, where its message should be waiting, and since when."""

    client_id: str
    message_id: bytes
    queue: str
    due_at: datetime

    @property
    def place(self) -> Place:
        return Place(self.client_id, self.message_id)


@dataclass(frozen=True, slots=True)
class Row:
    """Everything that is needed to enqueue a message again."""

    message_id: bytes
    client_id: str
    domain: str
    queue: str
    cert_fingerprint: bytes
    encrypted_body: bytes
    key_id: int
    queued_at: datetime
    due_at: datetime
    expires_at: datetime
    client_timestamp: datetime | None
    attempt_count: int
    priority: int
    ordering_key: bytes | None
    generation: int


def list_waiting(connection: Connection, place: Place, limit: int) -> list[Waiting]:
    """List rows that wait, after a place.

    When they are due is for our caller to see: to search for those that are would mean to look at
    all that aren't, however many.
    """
    columns = [messages.c[name] for name in Waiting.__slots__]
    rows = rows_after(connection, select(*columns), "queued", place, limit)
    return [Waiting(*row) for row in rows]


def read_queued(connection: Connection, ids: Sequence[bytes]) -> list[Row]:
    """Return those of the rows that say `queued` now, in the order in which they came."""
    columns = [messages.c[name] for name in Row.__slots__]
    query = select(*columns).where(
        messages.c.message_id.in_(ids),
        messages.c.status == "queued",
        messages.c.encrypted_body.is_not(None),
    )
    query = query.order_by(messages.c.message_id)
    return [Row(*row) for row in connection.execute(query)]


def take_lead(connection: Connection) -> bool:
    """Take the lead if nobody has it. One reconciler has it at a time: the lock belongs to the
    connection, and goes with it."""
    return bool(connection.scalar(text("SELECT GET_LOCK(:name, 0)"), {"name": _LOCK}))


def has_lead(connection: Connection) -> bool:
    query = text("SELECT IS_USED_LOCK(:name) = CONNECTION_ID()")
    return bool(connection.scalar(query, {"name": _LOCK}))
