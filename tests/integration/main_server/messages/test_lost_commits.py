"""The connection to the ledger is lost at the commit: before it or after it, nobody can tell. What
was asked is done again, and is done once (3.6, I2)."""

from collections.abc import Callable, Iterator

import pytest
from sqlalchemy.exc import OperationalError

from gatepost.wire.contract import Settlement
from gatepost.wire.envelope import Envelope
from infra.dev.engines import MariaServer
from tests.integration.main_server.conftest import Room, engine_of, results, settlement
from tests.wire import Fault, Wire

COMMIT = b"\x03COMMIT"
LOST = [Fault.LOSE_REQUEST, Fault.LOSE_REPLY]


@pytest.fixture
def wire(maria_server: MariaServer) -> Iterator[Wire]:
    with Wire(maria_server.port) as wire:
        yield wire


@pytest.fixture
def far(room: Room, wire: Wire, database_url: str, maria_server: MariaServer) -> Iterator[Room]:
    """The same room, by way of the wire."""
    engine = engine_of(database_url.replace(f":{maria_server.port}/", f":{wire.port}/"))
    far = Room(engine, room.ring, name=room.name)
    far.register(far.envelope())  # its data key is there: the next commit is the message's
    yield far
    engine.dispose()


@pytest.mark.parametrize("fault", LOST)
@pytest.mark.parametrize("times", [1, 2])
def test_a_registration_is_one_row(
    room: Room, far: Room, wire: Wire, fault: Fault, times: int
) -> None:
    envelopes = [room.envelope(key_mac=b"k" * 32, payload_mac=b"p" * 32), room.envelope()]
    wire.lose(fault, COMMIT, times)
    assert results(far.register(*envelopes)) == [("registered", None)] * 2
    assert wire.lost == times
    assert room.count_rows() == 3
    assert room.status(envelopes[0].message_id) == ("queued", None, 0)


@pytest.mark.parametrize("registered", [True, False], ids=["registered", "not registered"])
@pytest.mark.parametrize("fault", LOST)
def test_a_delivery_is_one_effect(
    room: Room, far: Room, wire: Wire, fault: Fault, registered: bool
) -> None:
    """What the worker is told is an end: `already`, after a commit that it never heard of."""
    envelope = room.envelope()
    if registered:
        room.register(envelope)
    wire.lose(fault, COMMIT)
    (answer,) = results(far.deliver(envelope, attempt=3))
    assert wire.lost == 1
    assert answer[0] == ("delivered" if fault is Fault.LOSE_REQUEST else "already")
    assert room.status(envelope.message_id) == ("delivered", None, 3)
    assert [attempt for attempt, _, _ in room.attempts(envelope.message_id)] == [3]
    assert room.count_rows() == 2


@pytest.mark.parametrize("outcome", list(Settlement))
@pytest.mark.parametrize("fault", LOST)
def test_a_settlement_is_noted_once(
    room: Room, far: Room, wire: Wire, fault: Fault, outcome: Settlement
) -> None:
    envelope = room.envelope()
    room.register(envelope)
    wire.lose(fault, COMMIT)
    far.settle(settlement(envelope, 2, outcome, due_at=envelope.queued_at))
    assert wire.lost == 1
    assert len(room.attempts(envelope.message_id)) == 1
    assert room.status(envelope.message_id)[2] == 2


def test_a_ledger_that_stays_away_is_an_outage_not_a_refusal(
    room: Room, far: Room, wire: Wire
) -> None:
    """No row is called bad because the connection was; what was asked can be asked again."""
    envelope = room.envelope()
    ways: list[Callable[[Envelope], object]] = [
        far.register,
        far.deliver,
        lambda one: far.settle(settlement(one)),
    ]
    for way in ways:
        wire.lose(Fault.LOSE_REQUEST, COMMIT, times=100)
        with pytest.raises(OperationalError):
            way(envelope)
        assert room.row(envelope.message_id) is None
    wire.heal()
    assert results(far.register(envelope)) == [("registered", None)]
