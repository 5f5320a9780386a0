"""Two messages under one Idempotency-Key, both accepted while a store was away: by whatever way the
second one comes to the ledger, it is delivered by nobody, and nothing of it vanishes (I1, I2)."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from gatepost.wire.contract import Settlement
from gatepost.wire.envelope import Envelope
from main_server.messages.failed import service
from tests.factories import changed
from tests.integration.main_server.conftest import Room, offer, open_row, results, settlement
from tests.integration.main_server.messages.failed.redriving import now
from tests.integration.main_server.town import SUPER

KEY, PAYLOAD, OTHER = b"k" * 32, b"p" * 32, b"q" * 32


def settle(room: Room, envelope: Envelope) -> None:
    """A worker has used up its attempts; that it was offered, the ledger could not store."""
    raw = offer(envelope).envelope
    room.settle(settlement(envelope, 5, reason="attempts_used", envelope=raw))


WAYS: dict[str, Callable[[Room, Envelope], Any]] = {
    "registered, as told": lambda room, one: room.register(one, accepted=True),
    "delivered": lambda room, one: room.deliver(one),
    "settled": settle,
}
BOTH_WAYS = [(first, second) for first in ("registered", *WAYS) for second in WAYS]


def both(room: Room, ways: tuple[str, str], second_payload: bytes) -> tuple[Envelope, Envelope]:
    first = room.envelope(key_mac=KEY, payload_mac=PAYLOAD)
    second = room.envelope(key_mac=KEY, payload_mac=second_payload)
    if ways[0] == "registered":
        room.register(first)
    else:
        WAYS[ways[0]](room, first)
    WAYS[ways[1]](room, second)
    return first, second


@pytest.mark.parametrize("ways", BOTH_WAYS, ids=" then ".join)
def test_what_says_something_else_has_failed_with_its_body(
    room: Room, ways: tuple[str, str]
) -> None:
    first, second = both(room, ways, OTHER)
    row = room.row(second.message_id)
    assert row is not None
    assert (row["status"], row["reason"]) == ("failed", "key_conflict")
    assert row["duplicate_of"] is None
    assert open_row(room.engine, row) == room.ring.open_envelope(second)
    for again in WAYS:
        WAYS[again](room, second)
    assert results(room.deliver(second, attempt=6, send=False)) == [("refused", "key_conflict")]
    after = room.row(second.message_id)
    assert after is not None
    assert after == row | {"attempt_count": after["attempt_count"]}
    assert room.status(first.message_id)[1] != "key_conflict", "the first one has the key"


@pytest.mark.parametrize("ways", BOTH_WAYS, ids=" then ".join)
def test_what_says_the_same_is_a_duplicate(room: Room, ways: tuple[str, str]) -> None:
    first, second = both(room, ways, PAYLOAD)
    row = room.row(second.message_id)
    assert row is not None
    assert (row["status"], row["duplicate_of"]) == ("duplicate", first.message_id.bytes)
    assert row["encrypted_body"] is None


def test_what_can_not_be_opened_is_nobodys_duplicate(room: Room) -> None:
    """Whose key it names isn't sure: what it is under would hide that it was lost."""
    good = room.envelope(key_mac=KEY, payload_mac=PAYLOAD)
    bad = changed(room.envelope(key_mac=KEY, payload_mac=PAYLOAD), sealed=b"x" * 200)
    raws = {one: offer(one).envelope for one in (good, bad)}
    room.settle(*(settlement(one, 5, envelope=raw) for one, raw in raws.items()))
    assert room.status(good.message_id) == ("failed", "refused", 5)
    assert room.status(bad.message_id) == ("failed", "unreadable", 5)


@pytest.mark.parametrize("again", WAYS)
def test_once_redriven_it_has_no_key_and_is_delivered(room: Room, again: str) -> None:
    """Whatever Redis, perhaps set back, still tells of its first life."""
    first, second = both(room, ("registered", "registered, as told"), OTHER)
    assert redriven(room, second.message_id)
    assert room.status(second.message_id)[:2] == ("queued", None)
    WAYS[again](room, second)
    expected = "delivered" if again == "delivered" else "queued"
    assert room.status(second.message_id)[:2] == (expected, None)
    room.deliver(second, send=False)
    room.deliver(first, send=False)
    assert room.status(second.message_id)[0] == room.status(first.message_id)[0] == "delivered"


def test_what_is_redriven_does_not_end_by_an_envelope_of_its_first_life(room: Room) -> None:
    """What had expired in that life has time now."""
    envelope = room.envelope()
    room.register(envelope)
    room.settle(settlement(envelope, 1, Settlement.FAILED))
    assert redriven(room, envelope.message_id)
    late = Room(room.engine, room.ring, name=room.name)
    late.clock.correct(late.clock.now_ms() + 97 * 3600 * 1000, took_ms=0)
    late.register(envelope, accepted=True)
    assert room.status(envelope.message_id)[:2] == ("queued", None)


def test_an_envelope_under_anothers_id_ends_nobodys_message(room: Room) -> None:
    one, other = room.envelope(), room.envelope()
    room.register(other)
    room.settle(settlement(one, 1, reason="unreadable", envelope=offer(other).envelope))
    assert room.row(one.message_id) is None
    assert room.status(other.message_id) == ("queued", None, 0)


def redriven(room: Room, message_id: UUID) -> bool:
    return service.redrive_these(room.engine, SUPER, [message_id], now()) == [message_id]
