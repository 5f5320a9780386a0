"""The end of a client's day: its data key, once none of its messages is left.

From that moment no backup, replica or archive opens what was in them (blueprint 6).
"""

from datetime import date, datetime

from sqlalchemy import Connection, Engine

from main_server.keys.destroy import destroy_key
from main_server.keys.destroyed_repository import mark_finished
from main_server.keys.repository import read_time
from main_server.retention import row_repository as rows
from main_server.retention import run_repository as runs
from main_server.retention.days import span_of
from main_server.retention.plan import Part
from main_server.store.database import transact
from main_server.tenants import hold_repository as holds


def destroy_keys(engine: Engine, run_id: str, part: Part, today: date, now: datetime) -> bool:
    """Destroy the day's data keys; return False if a hold, or a message that is not gone, has come
    in between."""

    def work(connection: Connection) -> bool:
        holds.share(connection)
        if not holds.read_policies(connection).is_due(part.client_id, part.day, today):
            return False
        if rows.next_of_client(connection, part.client_id, span_of(part.day)) is not None:
            return False
        destroy_key(connection, part.pair, now)
        mark_finished(connection, part.pair, read_time(connection))
        runs.add(connection, run_id, part.client_id, part.day, keys=part.keys)
        return True

    return transact(engine, work)
