"""SQL for messages. Status changes only along the arrows, by conditional statements (I2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, literal_column, select, update
from sqlalchemy.dialects.mysql import insert

from main_server.tables import messages

DELIVERABLE = ("queued", "failed")
"""The states that a delivery may still change: a late success wins over a failure."""

_if = getattr(func, "if")


@dataclass(frozen=True, slots=True)
class Standing:
    """What deliver must know of a row."""

    status: str
    expires_at: datetime


def lock_standings(connection: Connection, ids: Sequence[bytes]) -> dict[bytes, Standing]:
    """Locks the rows, in the order of their ids so that two callers can't wait for each other."""
    query = (
        select(messages.c.message_id, messages.c.status, messages.c.expires_at)
        .where(messages.c.message_id.in_(ids))
        .order_by(messages.c.message_id)
        .with_for_update()
    )
    return {row[0]: Standing(row[1], row[2]) for row in connection.execute(query)}


def mark_delivered(
    connection: Connection, ids: Sequence[bytes], attempt: int, now: datetime
) -> None:
    _end(connection, ids, attempt, status="delivered", reason=None, delivered_at=now)


def mark_expired(connection: Connection, ids: Sequence[bytes], attempt: int) -> None:
    _end(connection, ids, attempt, status="failed", reason="expired")


def _end(connection: Connection, ids: Sequence[bytes], attempt: int, **values: Any) -> None:
    statement = (
        update(messages)
        .where(messages.c.message_id.in_(ids), messages.c.status.in_(DELIVERABLE))
        .values(attempt_count=func.greatest(messages.c.attempt_count, attempt), **values)
    )
    connection.execute(statement)


def insert_ended(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Inserts rows that have reached their end.

    Where another has inserted the row meanwhile, it ends in the same way if its state allows. MySQL
    assigns from left to right, so the status, which the conditions read, comes last. The driver
    joins the rows into one statement, so what follows VALUES may hold no parameters.
    """
    statement = insert(messages)
    new, row = statement.inserted, messages.c
    open_still = row.status.in_([literal_column(f"'{status}'") for status in DELIVERABLE])
    merge = [
        ("attempt_count", func.greatest(row.attempt_count, new.attempt_count)),
        ("delivered_at", _if(open_still, new.delivered_at, row.delivered_at)),
        ("reason", _if(open_still, new.reason, row.reason)),
        ("status", _if(open_still, new.status, row.status)),
    ]
    connection.execute(statement.on_duplicate_key_update(merge), list(rows))


def find_status(
    connection: Connection, message_id: bytes, client_id: str
) -> Mapping[str, Any] | None:
    query = select(
        messages.c.status,
        messages.c.created_at,
        messages.c.queued_at,
        messages.c.delivered_at,
        messages.c.attempt_count,
    ).where(messages.c.message_id == message_id, messages.c.client_id == client_id)
    row = connection.execute(query).mappings().first()
    return dict(row) if row else None
