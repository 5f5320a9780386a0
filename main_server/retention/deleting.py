"""Delete what can't be dropped whole: a few rows at a time, each with all that belongs to it.

After each few comes a pause as long as they took, so that senders and workers get on. The
transaction that deletes asks again whether these may go.
"""

import time
from datetime import date
from functools import partial

from sqlalchemy import Connection, Engine

from main_server.retention import row_repository as repository
from main_server.retention import run_repository as runs
from main_server.retention.days import Span, span_of
from main_server.retention.patience import Patience
from main_server.retention.plan import Part
from main_server.store.database import transact
from main_server.tenants import hold_repository as holds

CHUNK = 500
_LONGEST_PAUSE = 1.0


def delete_part(engine: Engine, run_id: str, part: Part, today: date, patience: Patience) -> int:
    """Delete a client's day, with the claims on its Idempotency-Keys; return how many messages have
    gone."""
    gone = 0
    delete = partial(_delete_messages, run_id=run_id, part=part, today=today)
    while count := _unhurried(engine, delete, patience):
        gone += count
    while _unhurried(engine, partial(_delete_claims, part=part, today=today), patience):
        pass
    return gone


def delete_orphans(engine: Engine, last: date, patience: Patience) -> int:
    """Delete attempts of messages that had gone when they were settled: on each day up to `last`,
    as others may keep messages of that day for longer."""
    gone = 0
    for day in transact(engine, lambda c: list(repository.days_with_attempts(c, last))):
        delete = partial(_delete_orphans, span=span_of(day))
        while count := _unhurried(engine, delete, patience):
            gone += count
    return gone


def _delete_messages(connection: Connection, run_id: str, part: Part, today: date) -> int:
    if not part.sealed or not _may_go(connection, part, today):
        return 0
    ids = repository.lock_ended(connection, part.client_id, span_of(part.day), CHUNK)
    if not ids:
        return 0
    repository.delete_attempts(connection, ids)
    count = repository.delete_messages(connection, ids)
    runs.add(connection, run_id, part.client_id, part.day, rows=count)
    return count


def _delete_claims(connection: Connection, part: Part, today: date) -> int:
    """Delete claims where no message is left. A row may have come since the plan, into a day
    without any."""
    span = span_of(part.day)
    if not _may_go(connection, part, today):
        return 0
    if repository.next_of_client(connection, part.client_id, span) is not None:
        return 0
    return repository.delete_claims(connection, part.client_id, span, CHUNK)


def _delete_orphans(connection: Connection, span: Span) -> int:
    ids = repository.orphans(connection, span, CHUNK)
    return repository.delete_attempts(connection, ids) if ids else 0


def _may_go(connection: Connection, part: Part, today: date) -> bool:
    """Return whether the day may still go. Whoever sets a hold waits until this transaction has
    ended, or has come before it."""
    holds.share(connection)
    return holds.read_policies(connection).is_due(part.client_id, part.day, today)


def _unhurried(engine: Engine, work: "partial[int]", patience: Patience) -> int:
    patience.wait_for_snapshots(engine)
    begun = time.monotonic()
    count = transact(engine, work)
    if count:
        time.sleep(min(time.monotonic() - begun, _LONGEST_PAUSE))
    return count
