"""Audit logs for tests: written as all do, or whatever a test wants them to hold."""

from datetime import UTC, datetime

from sqlalchemy import Engine, insert, text

from main_server.audit.chain import Entry, Head
from main_server.audit.repository import append
from main_server.store.database import transact
from main_server.store.tables import audit_log


def empty(engine: Engine) -> None:
    run_sql(engine, "DELETE FROM audit_log")
    run_sql(engine, "DELETE FROM audit_checks")
    run_sql(engine, "UPDATE audit_head SET seq = 0, hash = REPEAT(CHAR(0), 32)")


def run_sql(engine: Engine, statement: str) -> None:
    transact(engine, lambda c: c.execute(text(statement)))


def write(engine: Engine, number: int) -> Head:
    entry = Entry("test", "thing.done", f"thing {number}", None, {"ids": [number]})
    return transact(engine, lambda c: append(c, entry, datetime.now(UTC)))


def put(engine: Engine, rows: list[dict[str, object]]) -> None:
    """As they are given, in no chain: for looking through them."""
    rest: dict[str, object] = {
        "actor": "test",
        "action": "user.created",
        "subject": "s",
        "domain": None,
    }
    rest |= {"details": "{}", "previous": bytes(32), "hash": bytes(32)}
    whole = [rest | {"seq": seq} | row for seq, row in enumerate(rows, 1)]
    for first in range(0, len(whole), 1000):
        part = whole[first : first + 1000]
        transact(engine, lambda c, part=part: c.execute(insert(audit_log), part))  # type: ignore[misc]
