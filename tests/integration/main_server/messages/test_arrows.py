"""I2, every pair tried: each state that a row can be in, each thing that can be said of it.

    queued → any · failed → delivered · any → erased · nothing leaves erased or duplicate

A redrive (failed → queued) and an erasure are commands of their own: nothing here may do them.
"""

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from gatepost.wire.contract import Settlement
from gatepost.wire.envelope import Envelope
from main_server.messages import repository
from main_server.messages.arrivals import duplicate_row
from main_server.store.database import transact
from main_server.store.tables import STATUSES
from tests.integration.main_server.conftest import Room, offer, settlement

LATER_MS = 60_000


class Late(Room):
    """The same room after the message has expired."""

    def __init__(self, room: Room) -> None:
        super().__init__(room.engine, room.ring, name=room.name)
        self.clock.correct(self.clock.now_ms() + 97 * 3600 * 1000, took_ms=0)


def fail(room: Room, envelope: Envelope) -> None:
    room.settle(settlement(envelope, 3, Settlement.FAILED, reason="attempts_used"))


def retry(room: Room, envelope: Envelope) -> None:
    due = envelope.queued_at + LATER_MS
    room.settle(settlement(envelope, 3, Settlement.RETRY, due_at=due))


def call_unreadable(room: Room, envelope: Envelope) -> None:
    ids = [envelope.message_id.bytes]
    transact(room.engine, lambda c: repository.mark_failed(c, ids, 3, "unreadable"))


def call_duplicate(room: Room, envelope: Envelope) -> None:
    """As register does with what its sender was told, after another had the key."""
    row = duplicate_row(envelope, b"\1" * 16)
    transact(room.engine, lambda c: repository.insert_ended(c, [row]))


SAID: dict[str, Callable[[Room, Envelope], Any]] = {
    "registered": lambda room, one: room.register(one),
    "registered, as told": lambda room, one: room.register(one, accepted=True),
    "registered too late, as told": lambda room, one: Late(room).register(one, accepted=True),
    "delivered": lambda room, one: room.deliver(one, attempt=3),
    "delivered by its id": lambda room, one: room.deliver(one, attempt=3, send=False),
    "delivered too late": lambda room, one: Late(room).deliver(one, attempt=3),
    "failed": fail,
    "retried": retry,
    "unreadable": call_unreadable,
    "a duplicate": call_duplicate,
}

MOVES = {
    ("queued", "registered too late, as told"): "failed",
    ("queued", "delivered"): "delivered",
    ("queued", "delivered by its id"): "delivered",
    ("queued", "delivered too late"): "failed",
    ("queued", "failed"): "failed",
    ("queued", "unreadable"): "failed",
    ("queued", "a duplicate"): "duplicate",
    ("failed", "delivered"): "delivered",
    ("failed", "delivered by its id"): "delivered",
}
"""All other pairs change no state."""


@pytest.mark.parametrize(("before", "said"), list(itertools.product(STATUSES, SAID)))
def test_a_row_moves_along_its_arrow_or_not_at_all(room: Room, before: str, said: str) -> None:
    envelope = room.envelope()
    room.register(envelope)
    reason = "refused" if before == "failed" else None
    room.force(envelope.message_id, status=before, reason=reason, attempt_count=2)
    row = room.row(envelope.message_id)
    assert row is not None

    SAID[said](room, envelope)

    after = room.row(envelope.message_id)
    assert after is not None
    assert after["status"] == MOVES.get((before, said), before)
    assert after["attempt_count"] >= row["attempt_count"]
    for told_once in ("message_id", "client_id", "created_at", "encrypted_body", "key_id"):
        assert after[told_once] == row[told_once]
    if before not in ("queued", "failed"):
        assert after == row
    assert (after["delivered_at"] is not None) == (after["status"] == "delivered") or (
        before == "delivered"
    )


@pytest.mark.parametrize("said", SAID)
def test_said_twice_it_is_as_said_once(room: Room, said: str) -> None:
    envelope = room.envelope()
    SAID[said](room, envelope)
    once, attempts = room.row(envelope.message_id), room.attempts(envelope.message_id)
    SAID[said](room, envelope)
    assert room.row(envelope.message_id) == once
    assert room.attempts(envelope.message_id) == attempts


ORDERS = list(itertools.permutations(["registered", "delivered", "failed"]))


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_in_whatever_order_they_arrive_a_success_wins(room: Room, order: tuple[str, ...]) -> None:
    """Deliver before register, register after deliver, a late settlement after both."""
    envelope = room.envelope()
    for said in order:
        SAID[said](room, envelope)
    assert room.status(envelope.message_id) == ("delivered", None, 3)
    assert room.count_rows() == 1


@pytest.mark.parametrize("numbers", [(5, 2), (2, 5)], ids=str)
def test_the_number_of_attempts_is_the_highest_that_was_told(
    room: Room, numbers: tuple[int, int]
) -> None:
    envelope = room.envelope()
    room.register(envelope)
    for number in numbers:
        due = envelope.queued_at + number
        room.settle(settlement(envelope, number, Settlement.RETRY, due_at=due))
    assert room.status(envelope.message_id) == ("queued", None, 5)
    room.deliver(envelope, attempt=1)
    assert room.status(envelope.message_id) == ("delivered", None, 5)


def test_a_failed_row_that_a_worker_made_is_the_same_as_any(room: Room) -> None:
    """Made by a settlement before register ever arrived; the registration changes nothing."""
    envelope = room.envelope()
    room.settle(settlement(envelope, 3, envelope=offer(envelope).envelope))
    row = room.row(envelope.message_id)
    room.register(envelope)
    room.register(envelope, accepted=True)
    assert row is not None
    assert room.row(envelope.message_id) == row | {"accepted_by": "both"}
    room.deliver(envelope, attempt=4, send=False)
    assert room.status(envelope.message_id) == ("delivered", None, 4)
