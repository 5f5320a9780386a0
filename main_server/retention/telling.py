"""Record how a run has ended: in its row, and in the audit log, with an entry for each domain.

Counts that were not confirmed are settled first: a run may have been killed while a partition was
being dropped, and then the partition itself says whether it was.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, Engine

from main_server.audit import repository as audit
from main_server.audit.chain import Entry
from main_server.keys.repository import read_time
from main_server.retention import run_repository as repository
from main_server.retention.partition_repository import list_partitions
from main_server.retention.run_repository import Count, Run
from main_server.store.database import transact
from main_server.tenants.policy import domain_of

CLIENTS_NAMED = 500


def end_run(engine: Engine, run: Run) -> Run:
    """End a run, and return it with its sums."""

    def work(connection: Connection) -> Run:
        _settle_partitions(connection, run.run_id)
        now = read_time(connection)
        counts = repository.list_counts(connection, run.run_id)
        ended = replace(
            run,
            ended_at=now,
            row_count=sum(one.row_count for one in counts),
            key_count=sum(one.key_count for one in counts),
            partition_count=repository.count_partitions(connection, run.run_id),
        )
        repository.end_run(connection, ended)
        _note(connection, ended, counts, now)
        return ended

    return transact(engine, work)


def end_interrupted(engine: Engine, run: Run) -> Run:
    """End a run that was killed, as it can't have done so itself."""
    return end_run(engine, replace(run, state="interrupted", reason="It was killed."))


def _settle_partitions(connection: Connection, run_id: str) -> None:
    there = {one.name for one in list_partitions(connection) if one.table == "messages"}
    for name in repository.foreseen(connection, run_id):
        settle = repository.forget if name in there else repository.confirm
        settle(connection, run_id, name)


def _note(connection: Connection, run: Run, counts: Sequence[Count], now: datetime) -> None:
    """Write the audit log's entries: each domain's administrators see its own. A run that took
    nothing has one, too."""
    by_domain = groupby(counts, key=lambda one: domain_of(one.client_id))
    told: list[tuple[str | None, dict[str, Any]]] = [
        (domain, _told(list(group))) for domain, group in by_domain
    ]
    for domain, details in told or [(None, {"messages": 0, "keys": 0})]:
        whole = {"run": run.run_id, "state": run.state, **details}
        entry = Entry(run.actor, "retention.applied", domain or "every domain", domain, whole)
        audit.append(connection, entry, now)


def _told(counts: Sequence[Count]) -> dict[str, Any]:
    messages: Counter[str] = Counter()
    for one in counts:
        messages[one.client_id] += one.row_count
    days = [one.day for one in counts]
    return {
        "messages": messages.total(),
        "keys": sum(one.key_count for one in counts),
        "partitions": len({one.dropped_with for one in counts if one.dropped_with}),
        "first_day": min(days).isoformat(),
        "last_day": max(days).isoformat(),
        "clients": dict(messages.most_common(CLIENTS_NAMED)),
    }
