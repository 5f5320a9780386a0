"""By which stores a message was accepted: its row says it, whichever way it came."""

import pytest
from msgspec import Raw

from gatepost.wire.contract import Settlement
from gatepost.wire.envelope import encode
from tests.integration.main_server.conftest import Room, settlement


def kept(room: Room, envelope: object) -> str | None:
    row = room.row(envelope.message_id)  # type: ignore[attr-defined]
    assert row is not None
    found: str | None = row["accepted_by"]
    return found


@pytest.mark.parametrize(("skipped", "stores"), [(False, "both"), (True, "ledger")])
def test_what_the_edge_registers(room: Room, skipped: bool, stores: str) -> None:
    envelope = room.envelope()
    room.register(envelope, queue_skipped=skipped)
    assert kept(room, envelope) == stores
    room.deliver(envelope, send=False)
    assert kept(room, envelope) == stores


def test_what_only_the_queue_had(room: Room) -> None:
    exposed, delivered, failed = (room.envelope() for _ in range(3))
    late = room.envelope(expires_at=exposed.queued_at - 1)
    room.register(exposed, late, accepted=True)
    room.deliver(delivered)
    room.settle(settlement(failed, 1, Settlement.FAILED, envelope=Raw(encode(failed))))
    for one in (exposed, late, delivered, failed):
        assert kept(room, one) == "queue"


def test_a_worker_that_was_faster_than_the_edge_changes_nothing(room: Room) -> None:
    fast, slow = room.envelope(), room.envelope()
    room.deliver(fast)
    room.register(fast)
    room.register(slow)
    room.deliver(slow)
    assert (kept(room, fast), kept(room, slow)) == ("both", "both")
    assert room.status(fast.message_id)[0] == "delivered"


def test_what_the_reconciler_finds_there_is_left_as_it_is(room: Room) -> None:
    envelope = room.envelope()
    room.register(envelope)
    room.register(envelope, accepted=True)
    assert kept(room, envelope) == "both"
