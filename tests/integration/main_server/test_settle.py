"""Settle: how attempts ended is in the ledger before the queue forgets the message (I5)."""

from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest

from gatepost.clock import to_ms
from gatepost.wire.contract import Settlement
from gatepost.wire.envelope import encode
from main_server.messages.repository import ATTEMPTS_KEPT
from tests.factories import changed
from tests.integration.main_server.conftest import Room, open_row, settlement


def test_a_failure_ends_the_row(room: Room) -> None:
    envelope = room.envelope()
    room.register(envelope)
    room.settle(settlement(envelope, 4, reason="attempts_used"))
    assert room.status(envelope.message_id) == ("failed", "attempts_used", 4)
    assert room.attempts(envelope.message_id) == [(4, "failed", "attempts_used")]


def test_a_retry_is_noted_with_when_it_is_due(room: Room) -> None:
    envelope = room.envelope()
    room.register(envelope)
    due = envelope.queued_at + 30_000
    room.settle(settlement(envelope, 2, Settlement.RETRY, reason="unstorable", due_at=due))
    row = room.row(envelope.message_id)
    assert row is not None
    assert (row["status"], row["attempt_count"], to_ms(row["due_at"])) == ("queued", 2, due)
    assert room.attempts(envelope.message_id) == [(2, "retry", "unstorable")]


def test_a_failure_of_a_message_that_was_never_registered_leaves_its_row(room: Room) -> None:
    envelope = room.envelope()
    raw = msgspec.Raw(encode(envelope))
    room.settle(settlement(envelope, 3, reason="attempts_used", envelope=raw))
    assert room.status(envelope.message_id) == ("failed", "attempts_used", 3)
    row = room.row(envelope.message_id)
    assert row is not None
    assert open_row(room.engine, row) == room.ring.open_envelope(envelope), "it may be redriven"


def test_of_what_can_not_be_opened_the_row_says_so(room: Room) -> None:
    envelope = changed(room.envelope(), sealed=b"x" * 200)
    room.settle(settlement(envelope, envelope=msgspec.Raw(encode(envelope))))
    assert room.status(envelope.message_id) == ("failed", "unreadable", 1)


@pytest.mark.parametrize("raw", [b"{}", b"null", b'{"message_id":"x"}'])
def test_what_is_no_envelope_leaves_an_attempt_and_no_row(room: Room, raw: bytes) -> None:
    envelope = room.envelope()
    room.settle(settlement(envelope, envelope=msgspec.Raw(raw)))
    assert room.row(envelope.message_id) is None
    assert room.attempts(envelope.message_id) == [(1, "failed", "refused")]


@pytest.mark.parametrize("status", ["delivered", "erased", "duplicate", "failed"])
@pytest.mark.parametrize("outcome", list(Settlement))
def test_what_has_ended_stays_as_it_is(room: Room, status: str, outcome: Settlement) -> None:
    envelope = room.envelope()
    room.register(envelope)
    room.force(envelope.message_id, status=status, reason=None, attempt_count=9)
    before = room.row(envelope.message_id)
    room.settle(settlement(envelope, 2, outcome, due_at=envelope.queued_at))
    assert room.row(envelope.message_id) == before


def test_told_twice_it_is_noted_once(room: Room) -> None:
    envelope = room.envelope()
    room.register(envelope)
    for _ in range(2):
        room.settle(settlement(envelope, 1, Settlement.RETRY, due_at=envelope.queued_at))
    assert len(room.attempts(envelope.message_id)) == 1


def test_of_very_many_attempts_the_first_and_the_last_are_kept(room: Room) -> None:
    envelope = room.envelope()
    room.register(envelope)
    for attempt in range(1, 101):
        room.settle(settlement(envelope, attempt, Settlement.RETRY, due_at=envelope.queued_at))
    kept = [number for number, _, _ in room.attempts(envelope.message_id)]
    assert kept == [*range(1, ATTEMPTS_KEPT + 1), *range(101 - ATTEMPTS_KEPT, 101)]


def test_nothing_to_settle_is_settled(room: Room) -> None:
    room.settle()


def test_many_at_once_do_not_hinder_each_other(room: Room) -> None:
    envelopes = [room.envelope() for _ in range(20)]
    room.register(*envelopes)

    def settle_all(attempt: int) -> None:
        order = envelopes if attempt % 2 else envelopes[::-1]
        room.settle(*(settlement(e, attempt, Settlement.RETRY, due_at=e.queued_at) for e in order))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(settle_all, range(1, 17)))
    assert {room.status(e.message_id) for e in envelopes} == {("queued", None, 16)}
