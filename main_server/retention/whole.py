"""Drop whole partitions: that takes milliseconds, where deleting as many rows takes hours.

A partition is dropped only if nothing in it has to stay. That is asked again once the tables are
locked, so that no hold, no redrive and no late message can come in between. While the lock is
waited for nobody else gets on either: so retention waits for a second at most, and tries again
later.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import date
from os import sync

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import OperationalError

from main_server.retention import partition_repository as repository
from main_server.retention import row_repository as rows
from main_server.retention.days import DAY, Span, day_of, end_of, last_day_in
from main_server.retention.patience import Patience
from main_server.store.database import error_code, transact
from main_server.tenants.hold_repository import read_policies
from main_server.tenants.policy import Policies

_NOT_LOCKED = 1205
_BETWEEN_TRIES = 2.0


def may_drop(connection: Connection, partition: str, policies: Policies, today: date) -> bool:
    """Return whether each client in it is due and on no hold, none of its messages waits, and each
    day that it has messages of is sealed."""
    last = last_day_in(partition)
    if last is None:
        return False
    clients = repository.clients_in(connection, partition)
    if not all(policies.is_due(one, last, today) for one in clients):
        return False
    if repository.has_waiting(connection, partition):
        return False
    first = repository.first_in(connection, partition)
    if first is None:
        return True
    days = {day_of(first) + DAY * n for n in range((last - day_of(first)).days + 1)}
    return rows.sealed_days(connection, days) == days


def drop_whole(engine: Engine, partition: str, today: date, patience: Patience) -> bool:
    """Drop the partition, with its attempts; return False if something of it has to stay after
    all."""
    while True:
        patience.wait_for_snapshots(engine)
        try:
            with _locked(engine) as connection:
                dropped = _drop(connection, partition, today)
        except OperationalError as error:
            if error_code(error) != _NOT_LOCKED:
                raise
            patience.wait(_BETWEEN_TRIES, "Somebody reads or writes messages without an end.")
            continue
        if dropped:
            sync()  # MariaDB doesn't flush the names of partitions (decision 0021)
        return dropped


def left_over(engine: Engine) -> list[str]:
    """Return the days whose messages were dropped and whose attempts were not yet: a run was killed
    between."""

    def work(connection: Connection) -> list[str]:
        found = repository.list_partitions(connection)
        there = {one.name for one in found if one.table == "messages"}
        first = min(there, default="")
        return [one.name for one in found if one.table == "attempts" and one.name < first]

    return transact(engine, work)


def _drop(connection: Connection, partition: str, today: date) -> bool:
    found = repository.list_partitions(connection)
    names = {(one.table, one.name) for one in found}
    if ("messages", partition) in names:
        if not may_drop(connection, partition, read_policies(connection), today):
            return False
        repository.drop(connection, "messages", partition)
    if ("attempts", partition) in names and not _has_messages(connection, partition):
        repository.drop(connection, "attempts", partition)
    return True


def _has_messages(connection: Connection, partition: str) -> bool:
    """Return whether there are messages in the stretch of time whose attempts this partition
    has."""
    last = last_day_in(partition)
    assert last is not None
    before = [
        one.last_day
        for one in repository.list_partitions(connection)
        if one.table == "attempts" and one.last_day < last
    ]
    begin = end_of(max(before)) if before else bytes(16)
    return repository.has_messages_in(connection, Span(begin, end_of(last)))


@contextmanager
def _locked(engine: Engine) -> Iterator[Connection]:
    """Yield a connection with the locks; it is ended afterwards, and its locks with it, whatever
    happens."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        try:
            repository.lock_tables(connection)
            yield connection
        finally:
            with suppress(OperationalError):
                repository.unlock_tables(connection)
            connection.invalidate()
