"""SQL for one message, as people see it. Nothing here changes a message."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, select

from main_server.store.tables import attempts, messages


@dataclass(frozen=True, slots=True)
class Row:
    """Everything that the ledger knows of one message, but for what was in it."""

    message_id: bytes
    client_id: str
    domain: str
    status: str
    reason: str | None
    created_at: datetime
    queued_at: datetime
    delivered_at: datetime | None
    due_at: datetime
    expires_at: datetime
    client_timestamp: datetime | None
    attempt_count: int
    queue: str
    generation: int
    duplicate_of: bytes | None
    key_id: int | None
    accepted_by: str | None = None
    """The stores that had it when it was accepted; None where that was before this was noted."""


@dataclass(frozen=True, slots=True)
class Attempt:
    attempt: int
    started_at: datetime
    ended_at: datetime
    outcome: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class Sealed:
    """The parts of a row that are needed to open a message, and to say whose it is."""

    client_id: str
    domain: str
    key_id: int | None
    encrypted_body: bytes | None


def find_row(connection: Connection, message_id: bytes) -> Row | None:
    row = connection.execute(_of(Row, message_id)).one_or_none()
    return Row(*row) if row else None


def find_sealed(connection: Connection, message_id: bytes) -> Sealed | None:
    row = connection.execute(_of(Sealed, message_id)).one_or_none()
    return Sealed(*row) if row else None


def list_attempts(connection: Connection, message_id: bytes) -> list[Attempt]:
    columns = [attempts.c[name] for name in Attempt.__slots__]
    query = select(*columns).where(attempts.c.message_id == message_id)
    return [Attempt(*row) for row in connection.execute(query.order_by(attempts.c.attempt))]


def _of(kind: type[Any], message_id: bytes) -> Select[Any]:
    return select(*(messages.c[name] for name in kind.__slots__)).where(
        messages.c.message_id == message_id
    )
