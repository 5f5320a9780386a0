"""Register: inserted once; under one Idempotency-Key the first message has the key (I1, I2)."""

import random
import secrets
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import msgspec
import pytest

from gatepost.ids import id_ms
from gatepost.wire.contract import Registered, RegisterResult
from gatepost.wire.envelope import Envelope, encode
from main_server.messages import repository
from main_server.messages.register import register
from tests.factories import changed, ids
from tests.integration.main_server.conftest import Room, open_row, results

PAYLOAD = b"p" * 32


def keyed(room: Room, key: bytes, payload: bytes = PAYLOAD, **given: Any) -> Envelope:
    return room.envelope(key_mac=key, payload_mac=payload, **given)


def fresh_key() -> bytes:
    return secrets.token_bytes(32)


def test_a_message_waits_in_the_ledger_with_its_body_sealed(room: Room) -> None:
    envelope = room.envelope()
    assert results(room.register(envelope)) == [("registered", None)]
    assert room.status(envelope.message_id) == ("queued", None, 0)
    row = room.row(envelope.message_id)
    assert row is not None
    assert row["delivered_at"] is None
    assert open_row(room.engine, row) == room.ring.open_envelope(envelope)


@pytest.mark.parametrize("status", ["queued", "delivered", "failed", "erased"])
def test_registered_again_it_stays_as_it_is(room: Room, status: str) -> None:
    envelope = room.envelope()
    room.register(envelope)
    room.force(envelope.message_id, status=status, attempt_count=3)
    before = room.row(envelope.message_id)
    assert results(room.register(envelope)) == [("registered", None)]
    assert room.row(envelope.message_id) == before
    assert room.count_rows() == 1


def test_many_at_once_in_any_order_are_one_row_each(room: Room) -> None:
    envelopes = [room.envelope() for _ in range(40)]
    with ThreadPoolExecutor(8) as pool:
        told = list(
            pool.map(lambda _: room.register(*random.sample(envelopes, len(envelopes))), range(16))
        )
    assert {one.result for batch in told for one in batch} == {Registered.REGISTERED}
    assert room.count_rows() == 40


def test_as_many_as_a_call_may_hold_are_registered_in_their_order(room: Room) -> None:
    envelopes = [room.envelope() for _ in range(1000)]
    assert len(room.register(*envelopes)) == 1000
    assert room.count_rows() == 1000
    for envelope in envelopes[::100]:
        row = room.row(envelope.message_id)
        assert row is not None
        assert open_row(room.engine, row) == room.ring.open_envelope(envelope)


def test_what_is_no_envelope_is_refused_alone_and_in_its_place(room: Room) -> None:
    one, two = room.envelope(), room.envelope()
    raw = [msgspec.Raw(encode(one)), msgspec.Raw(b"{}"), msgspec.Raw(encode(two))]
    found = register(room.engine, room.ring, room.clock, raw)
    assert results(found) == [("registered", None), ("refused", "unreadable"), ("registered", None)]


def test_what_can_not_be_opened_leaves_no_row_unless_its_sender_was_told(room: Room) -> None:
    for accepted in (False, True):
        bad = changed(room.envelope(), sealed=b"x" * 200)
        assert results(room.register(bad, accepted=accepted)) == [("refused", "unreadable")]
        row = room.row(bad.message_id)
        assert (row is not None) is accepted
        if row:
            assert (row["status"], row["reason"]) == ("failed", "unreadable")


def test_what_has_expired_leaves_no_row_unless_its_sender_was_told(room: Room) -> None:
    for accepted in (False, True):
        late = room.envelope(expires_at=id_ms(ids.new()) - 1)
        assert results(room.register(late, accepted=accepted)) == [("expired", "expired")]
        row = room.row(late.message_id)
        assert (row is not None) is accepted
        if row:
            assert (row["status"], row["reason"]) == ("failed", "expired")
            assert row["encrypted_body"] is None


def test_a_row_that_the_ledger_refuses_does_not_hold_up_the_others(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    envelopes = [room.envelope() for _ in range(9)]
    bad = envelopes[6].message_id
    real = repository.insert_queued

    def insert(connection: Any, rows: Any, *rest: Any) -> None:
        spoilt = [
            dict(row, queue="q" * 500) if row["message_id"] == bad.bytes else row for row in rows
        ]
        real(connection, spoilt, *rest)

    monkeypatch.setattr(repository, "insert_queued", insert)
    found = room.register(*envelopes)
    assert [one.result.value for one in found] == ["registered"] * 6 + ["refused"] + [
        "registered"
    ] * 2
    assert room.count_rows() == 8


def test_the_same_key_and_payload_again_is_a_duplicate_of_the_first(room: Room) -> None:
    key = fresh_key()
    first, second = keyed(room, key), keyed(room, key)
    assert results(room.register(first)) == [("registered", None)]
    (found,) = room.register(second)
    assert (found.result, found.original) == (Registered.DUPLICATE, first.message_id)
    assert room.row(second.message_id) is None
    assert results(room.register(first)) == [("registered", None)], "the first may come again"


def test_the_same_key_with_another_payload_is_a_conflict(room: Room) -> None:
    key = fresh_key()
    first, second = keyed(room, key), keyed(room, key, b"q" * 32)
    room.register(first)
    (found,) = room.register(second)
    assert (found.result, found.original) == (Registered.CONFLICT, first.message_id)
    assert room.row(second.message_id) is None


def test_a_key_is_its_clients_alone(room: Room) -> None:
    key, other = fresh_key(), Room(room.engine, room.ring)
    assert results(room.register(keyed(room, key))) == [("registered", None)]
    assert results(other.register(keyed(other, key))) == [("registered", None)]


def test_within_one_batch_one_has_the_key(room: Room) -> None:
    key = fresh_key()
    found = room.register(*(keyed(room, key) for _ in range(5)))
    assert sorted(one.result.value for one in found) == ["duplicate"] * 4 + ["registered"]
    assert room.count_rows() == 1


def test_of_many_at_once_under_one_key_one_has_it_and_all_are_told_which(room: Room) -> None:
    key = fresh_key()
    envelopes = [keyed(room, key) for _ in range(16)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda one: room.register(one)[0], envelopes))
    (winner,) = [e for e, f in zip(envelopes, found, strict=True) if f.result == "registered"]
    originals = {told.original for told in found if told.result == "duplicate"}
    assert originals == {winner.message_id}
    assert room.count_rows() == 1


def test_of_those_who_were_told_the_later_leave_rows_as_duplicates(room: Room) -> None:
    """Both stores were split: two have their 202. The ledger's first row wins."""
    key = fresh_key()
    first, second = keyed(room, key), keyed(room, key)
    room.register(first)
    (found,) = room.register(second, accepted=True)
    assert found.result is Registered.DUPLICATE
    row = room.row(second.message_id)
    assert row is not None
    assert (row["status"], row["duplicate_of"]) == ("duplicate", first.message_id.bytes)
    assert row["encrypted_body"] is None
    assert results(room.deliver(second)) == [("duplicate", None)], "it isn't delivered"
    assert results(room.deliver(first)) == [("delivered", None)]


def test_a_duplicate_that_the_worker_brings_first_is_found_by_the_key(room: Room) -> None:
    key = fresh_key()
    first, second = keyed(room, key), keyed(room, key)
    room.register(first)
    assert results(room.deliver(second)) == [("duplicate", None)]
    row = room.row(second.message_id)
    assert row is not None
    assert (row["status"], row["duplicate_of"]) == ("duplicate", first.message_id.bytes)


def test_what_the_worker_brings_first_has_the_key(room: Room) -> None:
    key = fresh_key()
    first, second = keyed(room, key), keyed(room, key)
    assert results(room.deliver(first)) == [("delivered", None)]
    (found,) = room.register(second)
    assert (found.result, found.original) == (Registered.DUPLICATE, first.message_id)


def test_the_expired_does_not_take_the_key(room: Room) -> None:
    key = fresh_key()
    late = keyed(room, key, expires_at=id_ms(ids.new()) - 1)
    room.register(late)
    assert results(room.register(keyed(room, key))) == [("registered", None)]


def test_nobody_is_told_of_an_original_that_is_not_there(room: Room) -> None:
    key = fresh_key()
    with ThreadPoolExecutor(8) as pool:
        batches = [[keyed(room, key) for _ in range(4)] for _ in range(8)]
        found = [one for part in pool.map(lambda b: room.register(*b), batches) for one in part]
    originals = {told.original for told in found if told.original}
    assert len(originals) == 1
    assert room.row(_only(originals)) is not None
    assert all(isinstance(told, RegisterResult) for told in found)


def _only(found: set[UUID]) -> UUID:
    (one,) = found
    return one
