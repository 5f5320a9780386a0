"""Deciding what becomes of an offer or a registration: pure, and as a table."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec
import pytest

from gatepost.clock import from_ms
from gatepost.wire.contract import DeliveryOffer, Registered, Result
from gatepost.wire.envelope import Envelope, encode
from main_server.messages import deliver, register
from main_server.messages.arrivals import Arrival, arrive
from main_server.messages.repository import Claim, Standing
from tests import factories
from tests.factories import changed

RING = factories.keyring()
KEY: dict[str, Any] = {"key_mac": b"k" * 32, "payload_mac": b"p" * 32}
ENVELOPE: Envelope = factories.envelope(RING, **KEY)
NOW = ENVELOPE.queued_at + 1_000
OPENED = Arrival(ENVELOPE, b"content")
SEALED = Arrival(ENVELOPE, None)
LATE = Arrival(changed(ENVELOPE, expires_at=NOW), b"content")
OTHER = factories.ids.new().bytes
OWN_CLAIM = Claim(ENVELOPE.message_id.bytes, KEY["payload_mac"])
SAME = Claim(OTHER, KEY["payload_mac"])
CONFLICTING = Claim(OTHER, b"q" * 32)


def standing(status: str, left_ms: int = 1, reason: str | None = None) -> Standing:
    return Standing(status, from_ms(NOW) + timedelta(milliseconds=left_ms), reason)


def offered(with_envelope: bool, held: bool = False) -> DeliveryOffer:
    raw = msgspec.Raw(encode(ENVELOPE)) if with_envelope else msgspec.Raw()
    return DeliveryOffer(message_id=ENVELOPE.message_id, attempt=1, envelope=raw, held=held)


@pytest.mark.parametrize(
    ("row", "arrival", "original", "result", "reason"),
    [
        # What the row says decides, whatever came.
        (standing("queued"), None, None, Result.DELIVERED, None),
        (standing("queued"), SEALED, None, Result.DELIVERED, None),
        (standing("queued", 0), None, None, Result.EXPIRED, None),
        (standing("queued", -1), OPENED, None, Result.EXPIRED, None),
        (standing("failed"), None, None, Result.DELIVERED, None),
        (standing("failed", 0), None, None, Result.EXPIRED, None),
        (standing("failed", reason="refused"), None, None, Result.DELIVERED, None),
        (standing("failed", reason="unreadable"), None, None, Result.REFUSED, "unreadable"),
        (standing("failed", reason="unreadable"), SEALED, None, Result.REFUSED, "unreadable"),
        (standing("failed", reason="discarded"), None, None, Result.REFUSED, "discarded"),
        (standing("failed", reason="key_conflict"), OPENED, None, Result.REFUSED, "key_conflict"),
        (standing("delivered"), OPENED, None, Result.ALREADY, None),
        (standing("delivered", -1), None, None, Result.ALREADY, None),
        (standing("erased"), OPENED, None, Result.ERASED, None),
        (standing("erased", -1), None, None, Result.ERASED, None),
        (standing("duplicate"), OPENED, SAME, Result.DUPLICATE, None),
        # Without a row, the envelope is needed; and it must be one that can be opened.
        (None, None, None, Result.REFUSED, "unreadable"),
        (None, SEALED, None, Result.REFUSED, "unreadable"),
        (None, OPENED, None, Result.DELIVERED, None),
        (None, OPENED, OWN_CLAIM, Result.DELIVERED, None),
        (None, OPENED, SAME, Result.DUPLICATE, None),
        (None, OPENED, CONFLICTING, Result.REFUSED, "key_conflict"),
        (None, LATE, None, Result.EXPIRED, None),
    ],
)
def test_an_offer_with_its_envelope(
    row: Standing | None,
    arrival: Arrival | None,
    original: Claim | None,
    result: Result,
    reason: str | None,
) -> None:
    found = deliver.decide(offered(True), row, arrival, original, NOW)
    assert (found.message_id, found.result, found.reason) == (ENVELOPE.message_id, result, reason)
    assert not found.retryable
    paused = deliver.decide(offered(True, held=True), row, arrival, original, NOW)
    expected = Result.HELD if result is Result.DELIVERED else result
    assert (paused.result, paused.reason) == (expected, reason)


@pytest.mark.parametrize("status", [None, "queued", "failed", "delivered", "erased", "duplicate"])
def test_an_offer_without_its_envelope_is_asked_for_it_only_where_there_is_no_row(
    status: str | None,
) -> None:
    row = standing(status) if status else None
    found = deliver.decide(offered(False), row, None, None, NOW)
    assert (found.result is Result.SEND_ENVELOPE) is (status is None)


@pytest.mark.parametrize(
    ("arrival", "claim", "result", "original"),
    [
        (OPENED, None, Registered.REGISTERED, None),
        (OPENED, OWN_CLAIM, Registered.REGISTERED, None),
        (OPENED, SAME, Registered.DUPLICATE, UUID(bytes=OTHER)),
        (OPENED, CONFLICTING, Registered.CONFLICT, UUID(bytes=OTHER)),
        (SEALED, SAME, Registered.REFUSED, None),
        (LATE, SAME, Registered.EXPIRED, None),
    ],
)
def test_a_registration(
    arrival: Arrival, claim: Claim | None, result: Registered, original: UUID | None
) -> None:
    claims = {(ENVELOPE.client_id, KEY["key_mac"]): claim} if claim else {}
    found = register.decide(arrival, claims, NOW)
    assert (found.result, found.original) == (result, original)


def test_without_a_key_nobody_else_matters() -> None:
    plain = Arrival(factories.envelope(RING), b"content")
    claims = {(ENVELOPE.client_id, KEY["key_mac"]): SAME}
    assert register.decide(plain, claims, NOW).result is Registered.REGISTERED


def raw(**given: Any) -> msgspec.Raw:
    tree = msgspec.json.decode(encode(factories.envelope(RING))) | given
    return msgspec.Raw(msgspec.json.encode(tree))


def test_what_arrives_is_opened_and_understood_before_anything_is_decided() -> None:
    arrival = arrive(RING, raw())
    assert arrival is not None
    assert arrival.content is not None


@pytest.mark.parametrize(
    "data",
    [
        msgspec.Raw(b""),
        msgspec.Raw(b"null"),
        msgspec.Raw(b"{}"),
        raw(unknown=1),
        raw(cert_fingerprint="zz" * 32),
        raw(queued_at=10**18),
        raw(client_id="x" * 500),
    ],
)
def test_what_is_no_envelope_is_nothing(data: msgspec.Raw) -> None:
    assert arrive(RING, data) is None


@pytest.mark.parametrize(
    "content", [b"", b"noise", b"{}", b'{"sender_number":1,"message_body":2}', b'"text"']
)
def test_what_is_sealed_but_no_content_is_unreadable(content: bytes) -> None:
    envelope = factories.envelope(RING, content)
    arrival = arrive(RING, msgspec.Raw(encode(envelope)))
    assert arrival is not None
    assert arrival.content is None
