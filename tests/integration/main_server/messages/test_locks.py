"""A row that another transaction holds too long: the whole is undone, and done again (3.6)."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, event, select
from sqlalchemy.exc import OperationalError

from gatepost.wire.contract import Settlement
from gatepost.wire.envelope import Envelope
from main_server.store.tables import messages
from tests.integration.main_server.conftest import Room, engine_of, results, settlement


@pytest.fixture
def impatient(room: Room, database_url: str) -> Iterator[Room]:
    """The same room, where a lock is waited for one second."""
    engine = engine_of(database_url)

    @event.listens_for(engine, "connect")
    def set_patience(connection: Any, _record: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET SESSION innodb_lock_wait_timeout = 1")

    yield Room(engine, room.ring, name=room.name)
    engine.dispose()


def hold(engine: Engine, envelope: Envelope) -> Connection:
    """Another transaction, in which this row is locked."""
    connection = engine.connect()
    row = select(messages).where(messages.c.message_id == envelope.message_id.bytes)
    connection.execute(row.with_for_update())
    return connection


WAYS: dict[str, Callable[[Room, list[Envelope]], Any]] = {
    "deliver": lambda room, them: results(room.deliver(*them, attempt=2)),
    "settle": lambda room, them: room.settle(
        *(settlement(one, 2, Settlement.RETRY, due_at=one.queued_at) for one in them)
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_waits_too_long_for_a_lock_is_undone_and_done_again(
    room: Room, impatient: Room, way: str
) -> None:
    envelopes = [room.envelope() for _ in range(3)]
    room.register(*envelopes)
    connection = hold(room.engine, envelopes[1])
    release = threading.Timer(1.5, connection.close)
    release.start()
    WAYS[way](impatient, envelopes)
    release.join()
    assert {room.status(one.message_id)[2] for one in envelopes} == {2}


def test_a_lock_that_is_never_let_go_is_an_outage_and_leaves_nothing_half_done(
    room: Room, impatient: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("main_server.store.database._TRIES", 2)
    envelopes = [room.envelope() for _ in range(3)]
    room.register(*envelopes)
    with hold(room.engine, envelopes[2]), pytest.raises(OperationalError):
        impatient.deliver(*envelopes)
    assert {room.status(one.message_id) for one in envelopes} == {("queued", None, 0)}
