"""Where a message stands, in the words of the boundary."""

from typing import Any
from uuid import UUID

from sqlalchemy import Engine

from gatepost.clock import iso, to_ms
from main_server.database import transact
from main_server.messages import repository


def find_status(engine: Engine, message_id: UUID, client_id: str) -> dict[str, Any] | None:
    row = transact(engine, lambda c: repository.find_status(c, message_id.bytes, client_id))
    if row is None:
        return None
    delivered_at = row["delivered_at"]
    failed_for = {"reason": row["reason"]} if row["status"] == "failed" and row["reason"] else {}
    return {
        "message_id": str(message_id),
        "status": row["status"],
        "created_at": iso(to_ms(row["created_at"])),
        "queued_at": iso(to_ms(row["queued_at"])),
        "delivered_at": iso(to_ms(delivered_at)) if delivered_at else None,
        "attempt_count": row["attempt_count"],
        **failed_for,
    }
