"""Where a message stands: for its sender, and for nobody else."""

import pytest

from gatepost.clock import iso
from main_server.messages.failed import service
from main_server.messages.statuses import find_status
from tests.factories import ids
from tests.integration.main_server.conftest import Room, settlement
from tests.integration.main_server.messages.failed.redriving import now
from tests.integration.main_server.town import SUPER


def test_a_message_stands_as_its_row_says(room: Room) -> None:
    envelope = room.envelope()
    room.register(envelope)
    queued_at = iso(envelope.queued_at)
    found = find_status(room.engine, envelope.message_id, room.client_id)
    assert found == {
        "message_id": str(envelope.message_id),
        "status": "queued",
        "created_at": queued_at,
        "queued_at": queued_at,
        "delivered_at": None,
        "attempt_count": 0,
    }
    room.deliver(envelope, attempt=2)
    found = find_status(room.engine, envelope.message_id, room.client_id)
    assert found is not None
    assert (found["status"], found["attempt_count"]) == ("delivered", 2)
    assert found["delivered_at"] >= queued_at
    assert len(found["delivered_at"]) == len(queued_at)
    assert "reason" not in found


@pytest.mark.parametrize("reason", ["attempts_used", "expired", "key_conflict"])
def test_of_a_failed_one_it_is_said_why_until_it_is_redriven(room: Room, reason: str) -> None:
    envelope = room.envelope()
    room.register(envelope)
    room.settle(settlement(envelope, 2, reason=reason))
    found = find_status(room.engine, envelope.message_id, room.client_id)
    assert found is not None
    assert (found["status"], found["reason"]) == ("failed", reason)
    service.redrive_these(room.engine, SUPER, [envelope.message_id], now())
    found = find_status(room.engine, envelope.message_id, room.client_id)
    assert found is not None
    assert found["status"] == "queued"
    assert "reason" not in found


def test_another_clients_message_is_not_there(room: Room) -> None:
    envelope = room.envelope()
    room.deliver(envelope)
    message_id = envelope.message_id
    for stranger in (
        Room(room.engine, room.ring).client_id,
        f"example.org:{room.name}",
        room.client_id.upper(),
        room.client_id[:-1],
        room.name,
        "%",
        "",
    ):
        assert find_status(room.engine, message_id, stranger) is None, stranger
    assert find_status(room.engine, ids.new(), room.client_id) is None


def test_a_duplicate_stands_where_its_original_stands_under_its_own_id(room: Room) -> None:
    key = {"key_mac": b"k" * 32, "payload_mac": b"p" * 32}
    first, second = room.envelope(**key), room.envelope(**key)
    room.register(first)
    room.register(second, accepted=True)
    room.deliver(first)
    found = find_status(room.engine, second.message_id, room.client_id)
    assert found is not None
    assert (found["message_id"], found["status"]) == (str(second.message_id), "delivered")
