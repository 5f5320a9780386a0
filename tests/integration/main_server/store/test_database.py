"""Transactions: what collides is tried again as a whole, what fails leaves nothing."""

import threading
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import IntegrityError, OperationalError

from main_server.store.database import Ledger, transact
from tests.integration.main_server.conftest import Room


def say(connection: Connection, statement: str, **given: Any) -> Any:
    return connection.execute(text(statement), given)


def test_it_reads_what_is_committed_in_utc_cuts_nothing_and_hides_what_is_stored(
    engine: Engine,
) -> None:
    with engine.connect() as connection:
        assert say(connection, "SELECT @@session.tx_isolation").scalar() == "READ-COMMITTED"
        assert say(connection, "SELECT @@session.time_zone").scalar() == "+00:00"
        assert "STRICT_TRANS_TABLES" in say(connection, "SELECT @@session.sql_mode").scalar()
    with pytest.raises(Exception, match="nowhere") as refused:
        transact(engine, lambda c: say(c, "INSERT INTO nowhere VALUES (:x)", x="CANARY"))
    assert "CANARY" not in str(refused.value)


def test_what_fails_leaves_nothing(room: Room) -> None:
    envelope = room.envelope()
    room.register(envelope)

    def work(connection: Connection) -> None:
        say(connection, "UPDATE messages SET attempt_count = 77")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        transact(room.engine, work)
    assert room.status(envelope.message_id)[2] == 0


def test_two_that_wait_for_each_other_are_both_done_in_the_end(room: Room) -> None:
    one, two = room.envelope(), room.envelope()
    room.register(one, two)
    barrier = threading.Barrier(2)
    tries: list[str] = []

    def work(name: str, first: bytes, second: bytes) -> None:
        def cross(connection: Connection) -> None:
            tries.append(name)
            touch(connection, first)
            if len(tries) <= 2:
                barrier.wait(10)  # each holds what the other wants
            touch(connection, second)

        transact(room.engine, cross)

    def touch(connection: Connection, message_id: bytes) -> None:
        statement = "UPDATE messages SET attempt_count = attempt_count + 1 WHERE message_id = :id"
        say(connection, statement, id=message_id)

    pairs = [("a", one, two), ("b", two, one)]
    threads = [
        threading.Thread(target=work, args=(n, x.message_id.bytes, y.message_id.bytes))
        for n, x, y in pairs
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(tries) == 3, "one of them was undone, and tried again"
    assert room.status(one.message_id)[2] == room.status(two.message_id)[2] == 2


def test_a_connection_that_was_lost_is_replaced(room: Room) -> None:
    lost: list[int] = []
    envelope = room.envelope()

    def work(connection: Connection) -> None:
        number = say(connection, "SELECT CONNECTION_ID()").scalar()
        if not lost:
            lost.append(number)
            kill(room.engine, number)
        say(connection, "SELECT 1")

    transact(room.engine, work)
    room.register(envelope)
    assert room.status(envelope.message_id)[0] == "queued"


def kill(engine: Engine, number: int) -> None:
    with engine.connect() as connection:
        say(connection, f"KILL {number}")


def test_what_will_never_do_is_not_tried_again(engine: Engine) -> None:
    tries: list[int] = []

    def work(connection: Connection) -> None:
        tries.append(1)
        insert = "INSERT INTO domains (domain, max_undelivered, created_at) VALUES ('d', 1, NOW(3))"
        say(connection, insert)
        say(connection, insert)

    with pytest.raises(IntegrityError):
        transact(engine, work)
    assert len(tries) == 1


def test_what_collides_for_ever_is_given_up(engine: Engine) -> None:
    tries: list[int] = []

    def work(connection: Connection) -> None:
        tries.append(1)
        statement = "SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'Deadlock'"
        say(connection, statement)

    with pytest.raises(OperationalError):
        transact(engine, work)
    assert len(tries) == 4


async def test_the_ledger_runs_in_threads_and_is_done_when_it_returns(room: Room) -> None:
    ledger = Ledger(room.engine, 2)

    def where(engine: Engine, x: int, *, y: int) -> tuple[bool, str, int]:
        return engine is room.engine, threading.current_thread().name, x + y

    ours, thread, total = await ledger.run(where, 1, y=2)
    assert ours
    assert thread.startswith("ledger")
    assert total == 3
