"""Figures of the ledger that operators should know before it hurts: partitions that run out,
connections that do, and whether the audit log hangs together."""

from datetime import UTC, date

from sqlalchemy import Connection, Engine

from gatepost.clock import to_ms
from main_server.audit.check_repository import find_last_ended
from main_server.health.watching.repository import count_misplaced, read_connections
from main_server.messages.partitions import LAST, TABLES, days_ahead
from main_server.store.database import transact

LEDGER_WORDS = {
    "misplaced_rows": "Rows in the last partitions, which are to be empty; counted up to 1000 each",
    "days_ahead": "Days for which there are partitions, after today",
    "connections": "Connections to the ledger's server",
    "connections_limit": "Connections that it takes",
}
AUDIT_WORDS = {
    "whole": "Whether the last check of the whole audit log found it so",
    "checked_timestamp_seconds": "When that check ended",
    "entries": "Entries that it found to hang together",
}


def read_ledger(engine: Engine, today: date) -> dict[str, float | None]:
    def work(connection: Connection) -> dict[str, float | None]:
        connections = read_connections(connection)
        return {
            "misplaced_rows": sum(count_misplaced(connection, one, LAST) for one in TABLES),
            "days_ahead": min(days_ahead(connection, one, today) for one in TABLES),
            "connections": connections.open,
            "connections_limit": connections.limit,
        }

    return transact(engine, work)


def read_audit(engine: Engine) -> dict[str, float | None]:
    """Return the figures of the last check of the audit log that has ended; nothing as long as none
    has."""
    check = transact(engine, find_last_ended)
    if check is None or check.ended_at is None:
        return {}
    ended = to_ms(check.ended_at.replace(tzinfo=UTC)) / 1000
    return {
        "whole": float(check.state == "whole"),
        "checked_timestamp_seconds": ended,
        "entries": check.seq,
    }
