"""The status of a message, in the words of the boundary."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Engine

from gatepost.clock import iso, to_ms
from main_server.messages import repository
from main_server.messages.lasting import make_lasting, may_go_back
from main_server.store.database import transact


def find_status(engine: Engine, message_id: UUID, client_id: str) -> dict[str, Any] | None:
    """Return where a message stands. What its sender hears of it lasts: a delivery that was told is
    not told anew, later."""

    def work(connection: Connection) -> Mapping[str, Any] | None:
        row = repository.find_status(connection, message_id.bytes, client_id)
        if row is not None and may_go_back(row):
            make_lasting(connection)
        return row

    row = transact(engine, work)
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
