"""Deliver: once, whoever offers it how often; and no message in the way of another (I2, I5)."""

import random
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, BrokenBarrierError
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatepost.clock import from_ms, to_ms
from gatepost.errors import Invalid
from gatepost.ids import id_ms
from gatepost.wire.content import decode_content
from gatepost.wire.contract import DeliverResult, DeliveryOffer
from gatepost.wire.envelope import Envelope, encode
from main_server.messages import repository
from tests.factories import BODY, NUMBER, changed, ids
from tests.integration.main_server.conftest import Room, offer, open_row, results

HOUR = 3_600_000


def test_the_envelope_is_asked_for_then_it_is_delivered_then_it_is_already(room: Room) -> None:
    envelope = room.envelope()
    assert results(room.deliver(envelope, send=False)) == [("send_envelope", None)]
    assert room.row(envelope.message_id) is None
    assert results(room.deliver(envelope)) == [("delivered", None)]
    assert results(room.deliver(envelope)) == [("already", None)]
    assert results(room.deliver(envelope, attempt=2, send=False)) == [("already", None)]
    assert room.count_rows() == 1
    assert room.status(envelope.message_id) == ("delivered", None, 1)


def test_the_row_says_all_that_the_envelope_said(room: Room) -> None:
    envelope = room.envelope(client_timestamp=1_760_963_696_789, queue="example.com:messages")
    room.deliver(envelope, attempt=3)
    row = room.row(envelope.message_id)
    assert row is not None
    assert row["client_id"] == room.client_id
    assert row["domain"] == room.domain
    assert row["cert_fingerprint"].hex() == envelope.cert_fingerprint
    assert row["queue"] == envelope.queue
    assert to_ms(row["created_at"]) == to_ms(row["queued_at"]) == envelope.queued_at
    assert to_ms(row["expires_at"]) == envelope.expires_at
    assert to_ms(row["client_timestamp"]) == envelope.client_timestamp
    assert to_ms(row["delivered_at"]) >= envelope.queued_at
    assert row["attempt_count"] == 3
    kid, hashed = room.ring.hash_number(room.domain, NUMBER)
    assert (row["hmac_kid"], row["sender_number_hashed"]) == (kid, hashed)
    content = decode_content(open_row(room.engine, row))
    assert (content.sender_number, content.message_body) == (NUMBER, BODY)


@pytest.mark.parametrize(
    "stamp", [-30_610_224_000_000, -1, 0, 253_402_300_799_999], ids=["1000", "1969", "1970", "9999"]
)
def test_the_ledger_holds_every_timestamp_that_is_admitted(room: Room, stamp: int) -> None:
    envelope = room.envelope(client_timestamp=stamp)
    assert results(room.deliver(envelope)) == [("delivered", None)]
    row = room.row(envelope.message_id)
    assert row is not None
    assert to_ms(row["client_timestamp"]) == stamp


def test_the_numbers_of_a_domain_are_found_by_their_hash_and_of_another_are_not(
    room: Room,
) -> None:
    other = Room(room.engine, room.ring, domain="example.org")
    one, two, three = room.envelope(), room.envelope(), other.envelope()
    room.deliver(one, two, three)
    hashes = [
        row["sender_number_hashed"] for e in (one, two, three) if (row := room.row(e.message_id))
    ]
    assert hashes[0] == hashes[1] != hashes[2]


def test_a_batch_is_answered_in_its_order(room: Room) -> None:
    known, new, unknown = room.envelope(), room.envelope(), room.envelope()
    late = room.envelope(expires_at=id_ms(ids.new()) - 1)
    bad = changed(room.envelope(), sealed=b"x" * 200)
    room.deliver(known)
    offers = [offer(bad), offer(unknown, send=False), offer(late), offer(new), offer(known)]
    answers = room.offer(*offers)
    assert [a.message_id for a in answers] == [o.message_id for o in offers]
    assert [a.result.value for a in answers] == [
        "refused",
        "send_envelope",
        "expired",
        "delivered",
        "already",
    ]


def test_a_row_that_the_ledger_refuses_leaves_the_answers_in_their_order(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    envelopes = [room.envelope() for _ in range(8)]
    bad, real = {envelopes[one].message_id.bytes for one in (1, 6)}, repository.insert_queued

    def insert(connection: Any, rows: Any, *rest: Any) -> None:
        spoilt = [dict(r, queue="q" * 500) if r["message_id"] in bad else r for r in rows]
        real(connection, spoilt, *rest)

    monkeypatch.setattr(repository, "insert_queued", insert)
    answers = room.deliver(*envelopes)
    assert [one.message_id for one in answers] == [one.message_id for one in envelopes]
    refused = [one.message_id.bytes for one in answers if one.result == "refused"]
    assert set(refused) == bad
    assert room.count_rows() == 6


def test_an_empty_batch_is_answered_with_nothing(room: Room) -> None:
    assert room.offer() == []


def test_a_large_batch_of_new_messages_is_one_transaction(room: Room) -> None:
    envelopes = [room.envelope() for _ in range(500)]
    assert {a.result.value for a in room.deliver(*envelopes)} == {"delivered"}
    assert room.count_rows() == 500


def test_what_has_expired_leaves_a_row_without_a_body(room: Room) -> None:
    envelope = room.envelope(expires_at=id_ms(ids.new()) - 1)
    assert results(room.deliver(envelope)) == [("expired", None)]
    assert room.status(envelope.message_id) == ("failed", "expired", 1)
    row = room.row(envelope.message_id)
    assert row is not None
    assert row["encrypted_body"] is row["sender_number_hashed"] is row["key_id"] is None
    assert results(room.deliver(envelope, attempt=2)) == [("expired", None)]
    assert room.count_rows() == 1


def test_a_waiting_row_that_has_expired_is_ended_as_such(room: Room) -> None:
    envelope = room.envelope()
    room.register(envelope)
    room.force(envelope.message_id, expires_at=from_ms(envelope.queued_at - 1))
    assert results(room.deliver(envelope, send=False)) == [("expired", None)]
    assert room.status(envelope.message_id) == ("failed", "expired", 1)


def test_what_is_held_is_not_delivered_and_loses_nothing(room: Room) -> None:
    """Taken from a paused queue as expired, while it has time left by the ledger."""
    known, unknown, over = room.envelope(), room.envelope(), room.envelope()
    room.register(known, over)
    room.force(over.message_id, expires_at=from_ms(over.queued_at - 1))
    offers = [changed(offer(one), held=True) for one in (known, unknown, over)]
    assert results(room.offer(*offers)) == [("held", None), ("held", None), ("expired", None)]
    assert room.status(known.message_id) == room.status(unknown.message_id) == ("queued", None, 0)
    assert room.status(over.message_id) == ("failed", "expired", 1)
    assert results(room.deliver(known, unknown)) == [("delivered", None)] * 2


WAYS = [
    "noise",
    "empty",
    "flipped",
    "another's",
    "another client",
    "unknown key",
    "no content",
    "wrong content",
    "too much content",
]


def unreadable(room: Room) -> dict[str, Envelope]:
    """Envelopes that are well-formed, and can't be opened or be understood."""
    good, other = room.envelope(), room.envelope()
    flipped = good.sealed[:-1] + bytes([good.sealed[-1] ^ 1])
    return {
        "noise": changed(good, sealed=b"x" * 200),
        "empty": changed(room.envelope(), sealed=b""),
        "flipped": changed(room.envelope(message_id=ids.new()), sealed=flipped),
        "another's": changed(room.envelope(), sealed=other.sealed),
        "another client": changed(room.envelope(), client_id="example.com:somebody"),
        "unknown key": changed(room.envelope(), sealed=b"\1" + b"k" * 8 + good.sealed[9:]),
        "no content": room.envelope(b"this is not content"),
        "wrong content": room.envelope(b'{"sender_number":1,"message_body":2}'),
        "too much content": room.envelope(
            b'{"sender_number":"+12","message_body":"x","other":"y"}'
        ),
    }


@pytest.mark.parametrize("how", WAYS)
def test_what_can_not_be_opened_is_refused_once_and_for_all_and_alone(room: Room, how: str) -> None:
    bad, good = unreadable(room)[how], room.envelope()
    answers = room.deliver(bad, good)
    assert results(answers) == [("refused", "unreadable"), ("delivered", None)]
    assert not answers[0].retryable
    assert room.status(bad.message_id)[:2] == ("failed", "unreadable")


def test_what_the_reconciler_found_unreadable_is_not_delivered_afterwards(room: Room) -> None:
    """It waits in the queue as well: its worker comes to a row that has failed already."""
    bad = changed(room.envelope(), sealed=b"x" * 200)
    room.register(bad, accepted=True)
    assert room.status(bad.message_id) == ("failed", "unreadable", 0)
    for send in (False, True):
        assert results(room.deliver(bad, send=send)) == [("refused", "unreadable")]
    assert room.status(bad.message_id)[:2] == ("failed", "unreadable")


MALFORMED: list[bytes] = [
    b"null",
    b"[]",
    b"{}",
    b'"text"',
    b'{"message_id":"x"}',
    b'{"request_id":"\xff"}',
    b'{"deeply":' + b"[" * 500 + b"]" * 500 + b"}",
]
UNSTORABLE = [
    {"cert_fingerprint": "zz" * 32},
    {"cert_fingerprint": ""},
    {"client_id": "x" * 500},
    {"client_id": "\u00fc"},
    {"domain": "x" * 500},
    {"queue": "x" * 500},
    {"queued_at": 10**18},
    {"queued_at": -(10**18)},
    {"expires_at": 10**20},
    {"client_timestamp": 253_402_300_800_000},
    {"client_timestamp": -62_135_596_800_000},
]


def altered(envelope: Envelope, given: dict[str, object]) -> msgspec.Raw:
    tree = msgspec.json.decode(encode(envelope)) | given
    return msgspec.Raw(msgspec.json.encode(tree))


@pytest.mark.parametrize("given", UNSTORABLE)
def test_what_no_row_can_be_made_of_does_not_hold_up_its_batch(
    room: Room, given: dict[str, object]
) -> None:
    good = [room.envelope() for _ in range(3)]
    bad = room.envelope()
    poison = DeliveryOffer(message_id=bad.message_id, attempt=1, envelope=altered(bad, given))
    answers = room.offer(*map(offer, good[:2]), poison, *map(offer, good[2:]))
    assert [a.result.value for a in answers] == ["delivered", "delivered", "refused", "delivered"]
    assert room.row(bad.message_id) is None


@pytest.mark.parametrize("raw", MALFORMED)
def test_what_is_no_envelope_does_not_hold_up_its_batch(room: Room, raw: bytes) -> None:
    good = room.envelope()
    poison = DeliveryOffer(message_id=ids.new(), attempt=1, envelope=msgspec.Raw(raw))
    assert results(room.offer(poison, offer(good))) == [
        ("refused", "unreadable"),
        ("delivered", None),
    ]


def test_an_envelope_under_another_id_is_none(room: Room) -> None:
    envelope = room.envelope()
    wrong = DeliveryOffer(message_id=ids.new(), attempt=1, envelope=msgspec.Raw(encode(envelope)))
    assert results(room.offer(wrong)) == [("refused", "unreadable")]
    assert room.row(envelope.message_id) is None
    assert room.row(wrong.message_id) is None


def test_a_row_that_the_ledger_refuses_is_found_and_refused_alone(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an error that nobody thought of: the column of one row is too long."""
    envelopes = [room.envelope() for _ in range(9)]
    bad = envelopes[4].message_id
    real = repository.insert_queued

    def insert(connection, rows, *rest):  # type: ignore[no-untyped-def]
        spoilt = [
            dict(row, queue="q" * 500) if row["message_id"] == bad.bytes else row for row in rows
        ]
        real(connection, spoilt, *rest)

    monkeypatch.setattr(repository, "insert_queued", insert)
    answers = room.deliver(*envelopes)
    assert [a.result.value for a in answers].count("delivered") == 8
    refused = answers[4]
    assert (refused.result.value, refused.reason, refused.retryable) == (
        "refused",
        "unstorable",
        True,
    )
    assert room.row(bad) is None


def test_a_message_is_offered_once_in_a_batch(room: Room) -> None:
    """Or one of its results would be said of the row, and the other to the worker."""
    envelope = room.envelope()
    with pytest.raises(Invalid):
        room.offer(offer(envelope), offer(envelope, 2, send=False))
    assert room.count_rows() == 0


def at_once(room: Room, batches: Sequence[Sequence[DeliveryOffer]]) -> list[list[DeliverResult]]:
    with ThreadPoolExecutor(len(batches)) as pool:
        return list(pool.map(lambda batch: room.offer(*batch), batches))


@pytest.mark.parametrize("registered", [False, True])
def test_the_same_ids_from_many_at_once_in_any_order_are_one_row_each(
    room: Room, registered: bool
) -> None:
    envelopes = [room.envelope() for _ in range(40)]
    if registered:
        room.register(*envelopes)
    batches = [
        [offer(envelope, attempt) for envelope in random.sample(envelopes, 40)]
        for attempt in range(1, 9)
    ]
    answers = at_once(room, batches)
    assert room.count_rows() == 40
    for envelope in envelopes:
        status, _, attempt_count = room.status(envelope.message_id)
        assert status == "delivered"
        assert 1 <= attempt_count <= 8
    told = [(answer.message_id, answer.result.value) for batch in answers for answer in batch]
    assert {result for _, result in told} == {"delivered", "already"}
    firsts = Counter(message_id for message_id, result in told if result == "delivered")
    assert set(firsts) == {one.message_id for one in envelopes}
    assert set(firsts.values()) == {1}


def test_of_two_that_look_at_the_same_row_one_waits_and_is_told_already(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither decides by what the other is about to change."""
    envelope, both, real = room.envelope(), Barrier(2), repository.lock_standings
    room.register(envelope)

    def lock(connection, ids):  # type: ignore[no-untyped-def]
        standings = real(connection, ids)
        with suppress(BrokenBarrierError):
            both.wait(0.5)  # if nobody has to wait, both have looked
        return standings

    monkeypatch.setattr(repository, "lock_standings", lock)
    answers = at_once(room, [[offer(envelope, attempt, send=False)] for attempt in (1, 2)])
    told = sorted(answer.result.value for batch in answers for answer in batch)
    assert told == ["already", "delivered"]


def test_a_late_success_wins_over_a_failure(room: Room) -> None:
    envelope = room.envelope()
    room.register(envelope)
    room.force(envelope.message_id, status="failed", reason="attempts_used", attempt_count=5)
    assert results(room.deliver(envelope, attempt=3, send=False)) == [("delivered", None)]
    assert room.status(envelope.message_id) == ("delivered", None, 5)


@pytest.mark.parametrize(
    ("status", "told"), [("erased", "erased"), ("duplicate", "duplicate"), ("delivered", "already")]
)
def test_what_has_ended_for_good_stays_as_it_is(room: Room, status: str, told: str) -> None:
    envelope = room.envelope()
    room.register(envelope)
    room.force(envelope.message_id, status=status, attempt_count=2)
    before = room.row(envelope.message_id)
    assert results(room.deliver(envelope, attempt=9)) == [(told, None)]
    assert room.row(envelope.message_id) == before


@pytest.mark.parametrize("status", ["queued", "failed", "delivered", "erased", "duplicate"])
@pytest.mark.parametrize("end", ["delivered", "expired"])
def test_a_row_that_came_between_moves_along_the_arrows_alone(
    room: Room, monkeypatch: pytest.MonkeyPatch, status: str, end: str
) -> None:
    """Another inserts the row after we have looked, and before we insert it."""
    lifetime = HOUR if end == "delivered" else -1
    envelope = room.envelope(expires_at=id_ms(ids.new()) + lifetime)
    name = "insert_queued" if end == "delivered" else "insert_ended"
    real = getattr(repository, name)

    def insert(connection, rows, *rest):  # type: ignore[no-untyped-def]
        monkeypatch.setattr(repository, name, real)
        room.register(changed(envelope, expires_at=envelope.queued_at + HOUR))
        room.force(envelope.message_id, status=status, reason=None, attempt_count=4)
        real(connection, rows, *rest)

    monkeypatch.setattr(repository, name, insert)
    room.deliver(envelope, attempt=2)
    found, reason, attempt_count = room.status(envelope.message_id)
    arrows = {
        ("queued", "delivered"): "delivered",
        ("queued", "expired"): "failed",
        ("failed", "delivered"): "delivered",
    }
    assert found == arrows.get((status, end), status)
    assert reason == ("expired" if (status, end) == ("queued", "expired") else None)
    assert attempt_count == 4, "it never goes down"


def test_the_number_of_attempts_never_goes_down(room: Room) -> None:
    envelope = room.envelope()
    room.register(envelope)
    room.force(envelope.message_id, attempt_count=7)
    room.deliver(envelope, attempt=3, send=False)
    assert room.status(envelope.message_id) == ("delivered", None, 7)


def test_a_first_try_success_leaves_no_attempt_a_later_one_does(room: Room) -> None:
    first, later = room.envelope(), room.envelope()
    room.deliver(first)
    room.deliver(later, attempt=2)
    assert room.attempts(first.message_id) == []
    assert room.attempts(later.message_id) == [(2, "delivered", None)]


STATES = st.sampled_from(["queued", "failed", "delivered", "erased", "duplicate"])


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    states=st.lists(STATES | st.none(), min_size=1, max_size=8),
    attempts=st.lists(st.integers(min_value=1, max_value=20), min_size=8, max_size=8),
    send=st.booleans(),
)
def test_any_batch_moves_every_row_along_its_arrow(
    room: Room, states: list[str | None], attempts: list[int], send: bool
) -> None:
    envelopes = [room.envelope() for _ in states]
    for envelope, state in zip(envelopes, states, strict=True):
        if state is not None:
            room.register(envelope)
            room.force(envelope.message_id, status=state, attempt_count=10)
    room.offer(*(offer(e, n, send=send) for e, n in zip(envelopes, attempts, strict=False)))
    for envelope, state, attempt in zip(envelopes, states, attempts, strict=False):
        row = room.row(envelope.message_id)
        if state is None and not send:
            assert row is None
            continue
        assert row is not None
        lasting = state in ("delivered", "erased", "duplicate")
        assert row["status"] == (state if lasting else "delivered")
        assert row["attempt_count"] >= (10 if state else attempt)
