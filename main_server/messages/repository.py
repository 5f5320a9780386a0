"""SQL for messages. Status changes only along the arrows, by conditional statements (I2).

    queued → any · failed → delivered · any → erased · nothing leaves erased or duplicate

Ids are handled in their order, so that two callers can't wait for each other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    Connection,
    delete,
    func,
    literal_column,
    select,
    tuple_,
)
from sqlalchemy.dialects.mysql import insert

from main_server.store.tables import attempts, idempotency, messages

DELIVERABLE = ("queued", "failed")
"""The states that a delivery may still change: a late success wins over a failure."""

ATTEMPTS_KEPT = 10
"""The number of a message's first attempts that are kept, and of its last ones."""

_if = getattr(func, "if")

# The statements of the hot path are written out: made by SQLAlchemy they take several times the
# CPU, for each row and for each value of an IN.
_LOCK = (
    "SELECT message_id, status, expires_at, reason, generation FROM messages"
    " WHERE message_id IN %(ids)s ORDER BY message_id FOR UPDATE"
)
_QUEUED_COLUMNS = (
    "message_id",
    "client_id",
    "domain",
    "cert_fingerprint",
    "sender_number_hashed",
    "hmac_kid",
    "encrypted_body",
    "key_id",
    "created_at",
    "queued_at",
    "due_at",
    "expires_at",
    "client_timestamp",
    "queue",
    "priority",
    "ordering_key",
)
_INSERT_QUEUED = (
    f"INSERT INTO messages ({', '.join(_QUEUED_COLUMNS)},"
    " status, attempt_count, generation, accepted_by) VALUES "
)
_QUEUED_ROW = f"({', '.join(['%s'] * len(_QUEUED_COLUMNS))}, 'queued', 0, 0, "
_ONCE = " ON DUPLICATE KEY UPDATE message_id = messages.message_id"
_ONCE_FROM_THE_EDGE = " ON DUPLICATE KEY UPDATE accepted_by = 'both'"
_ROWS_A_STATEMENT = 200
"""The most rows of a statement, so that the longest bodies stay far below what the server takes in
one packet."""


class AcceptedBy(StrEnum):
    """The stores that had a message when its sender was told that it was accepted."""

    BOTH = "both"
    """Both stores were given it: durability full, unless one of them failed or took too long."""
    QUEUE = "queue"
    """The ledger has it from the queue."""
    LEDGER = "ledger"
    """The queue was being skipped."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The parts of a row that decide what becomes of it."""

    status: str
    expires_at: datetime
    reason: str | None = None
    generation: int = 0


@dataclass(frozen=True, slots=True)
class Claim:
    """The claim on an Idempotency-Key: the message that came first under it, and what it was."""

    message_id: bytes
    payload_mac: bytes


def lock_standings(connection: Connection, ids: Sequence[bytes]) -> dict[bytes, Standing]:
    if not ids:
        return {}
    rows = connection.exec_driver_sql(_LOCK, {"ids": ids})
    return {row[0]: Standing(*row[1:]) for row in rows}


def insert_queued(
    connection: Connection, rows: Sequence[Mapping[str, Any]], accepted_by: AcceptedBy
) -> None:
    """Insert once: a row that is there already, in whatever state, stays as it is.

    There is one exception: where a worker was faster with a message than the edge, both stores had
    it.
    """
    once = _ONCE if accepted_by is AcceptedBy.QUEUE else _ONCE_FROM_THE_EDGE
    row = f"{_QUEUED_ROW}'{accepted_by}')"
    for first in range(0, len(rows), _ROWS_A_STATEMENT):
        part = rows[first : first + _ROWS_A_STATEMENT]
        statement = _INSERT_QUEUED + ", ".join([row] * len(part)) + once
        values = tuple(one[name] for one in part for name in _QUEUED_COLUMNS)
        connection.exec_driver_sql(statement, values)


def insert_ended(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows that have ended otherwise than by a delivery.

    Where another has inserted the row meanwhile, it ends in the same way if it still waits: in its
    first life, as that is what an envelope tells of; of one that was redriven it says nothing.
    MySQL assigns from left to right, so the status, which the conditions read, comes last. The
    driver joins the rows into one statement, so what follows VALUES may hold no parameters.
    """
    statement = insert(messages)
    new, row = statement.inserted, messages.c
    waits = (row.status == literal_column("'queued'")) & (row.generation == literal_column("0"))
    merge = [
        ("attempt_count", func.greatest(row.attempt_count, new.attempt_count)),
        ("duplicate_of", _if(waits, new.duplicate_of, row.duplicate_of)),
        ("reason", _if(waits, new.reason, row.reason)),
        ("status", _if(waits, new.status, row.status)),
    ]
    connection.execute(statement.on_duplicate_key_update(merge), list(rows))


def mark_delivered(
    connection: Connection, ids: Sequence[bytes], attempt: int, now: datetime
) -> None:
    _advance(
        connection, ids, attempt, DELIVERABLE, status="delivered", reason=None, delivered_at=now
    )


def mark_failed(connection: Connection, ids: Sequence[bytes], attempt: int, reason: str) -> None:
    _advance(connection, ids, attempt, ("queued",), status="failed", reason=reason)


def note_retry(connection: Connection, message_id: bytes, attempt: int, due_at: datetime) -> None:
    _advance(connection, [message_id], attempt, ("queued",), due_at=due_at)


def _advance(
    connection: Connection,
    ids: Sequence[bytes],
    attempt: int,
    allowed: Sequence[str],
    **values: Any,
) -> None:
    """Change the state of rows, by the one conditional UPDATE that does so."""
    changes = ", ".join(f"{name} = %({name})s" for name in values)
    connection.exec_driver_sql(
        f"UPDATE messages SET attempt_count = GREATEST(attempt_count, %(attempt)s), {changes}"
        " WHERE message_id IN %(ids)s AND status IN %(allowed)s",
        {"ids": ids, "allowed": allowed, "attempt": attempt, **values},
    )


def add_attempts(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Add attempts. Of a message with very many, the middle is forgotten: all of it, as some may be
    missing."""
    statement = insert(attempts)
    connection.execute(statement.on_duplicate_key_update(attempt=attempts.c.attempt), list(rows))
    for row in rows:
        middle = row["attempt"] - ATTEMPTS_KEPT
        if middle > ATTEMPTS_KEPT:
            connection.execute(
                delete(attempts).where(
                    attempts.c.message_id == row["message_id"],
                    attempts.c.attempt.between(ATTEMPTS_KEPT + 1, middle),
                )
            )


def claim_keys(
    connection: Connection, rows: Sequence[Mapping[str, Any]]
) -> dict[tuple[str, bytes], Claim]:
    """Record keys that are new, and return whose each of them is. The first claim stays."""
    ordered = sorted(rows, key=lambda r: (r["client_id"], r["key_mac"], r["message_id"]))
    statement = insert(idempotency)
    connection.execute(
        statement.on_duplicate_key_update(client_id=idempotency.c.client_id), ordered
    )
    c = idempotency.c
    query = select(c.client_id, c.key_mac, c.message_id, c.payload_mac).where(
        tuple_(c.client_id, c.key_mac).in_([(r["client_id"], r["key_mac"]) for r in ordered])
    )
    return {(row[0], row[1]): Claim(row[2], row[3]) for row in connection.execute(query)}


def forget_keys(connection: Connection, before: datetime, limit: int) -> int:
    """Drop claims that have lived long enough; at most so many at once."""
    statement = delete(idempotency).where(idempotency.c.created_at < before)
    return connection.execute(statement.with_dialect_options(mysql_limit=limit)).rowcount


def find_status(
    connection: Connection, message_id: bytes, client_id: str
) -> Mapping[str, Any] | None:
    """Find where a message stands; a duplicate stands where the message stands that it is a
    duplicate of."""
    row = _find_status(connection, message_id, client_id)
    if row and row["duplicate_of"]:
        return _find_status(connection, row["duplicate_of"], client_id) or row
    return row


def _find_status(
    connection: Connection, message_id: bytes, client_id: str
) -> Mapping[str, Any] | None:
    query = select(
        messages.c.status,
        messages.c.reason,
        messages.c.created_at,
        messages.c.queued_at,
        messages.c.delivered_at,
        messages.c.attempt_count,
        messages.c.duplicate_of,
        func.timestampdiff(
            literal_column("MINUTE"), messages.c.delivered_at, func.utc_timestamp()
        ).label("minutes_delivered"),
    ).where(messages.c.message_id == message_id, messages.c.client_id == client_id)
    row = connection.execute(query).mappings().first()
    return dict(row) if row else None
