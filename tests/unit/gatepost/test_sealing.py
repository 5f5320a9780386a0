"""Sealing: only the main server's keyring opens it, and only as what it was sealed as (I6, I7)."""

import os
import secrets
import time
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatepost.errors import CannotOpen, Unavailable
from gatepost.ids import first_id_at
from gatepost.trust import sealing
from gatepost.trust.sealing import Sealer, SealingKey, parse
from gatepost.wire.content import Content, decode_content, encode_content
from gatepost.wire.envelope import Envelope
from main_server.keys.service import Keyring
from tests import factories
from tests.factories import BODY, NUMBER, changed, envelope

ENCAPSULATED = slice(9, 89)


@pytest.fixture(scope="module")
def ring() -> Keyring:
    return factories.keyring()


def test_what_is_sealed_is_opened_by_the_keyring_it_was_sealed_to(ring: Keyring) -> None:
    content = decode_content(ring.open_envelope(envelope(ring)))
    assert (content.sender_number, content.message_body) == (NUMBER, BODY)


@given(body=st.text(min_size=1, max_size=1000))
def test_any_body_comes_out_as_it_went_in(ring: Keyring, body: str) -> None:
    opened = decode_content(ring.open_envelope(envelope(ring, body=body)))
    assert opened.message_body == body


def test_nothing_of_it_can_be_read(ring: Keyring) -> None:
    sealed = envelope(ring).sealed
    assert NUMBER.encode() not in sealed
    assert BODY.encode() not in sealed
    assert NUMBER not in repr(Content(NUMBER, BODY))
    assert BODY not in repr(Content(NUMBER, BODY))


def test_a_single_changed_bit_anywhere_is_noticed(ring: Keyring) -> None:
    whole = envelope(ring)
    for position in range(len(whole.sealed)):
        flipped = bytearray(whole.sealed)
        flipped[position] ^= 1 << position % 8
        with pytest.raises(CannotOpen):
            ring.open_envelope(changed(whole, sealed=bytes(flipped)))


@settings(max_examples=200)
@given(noise=st.binary(max_size=200))
def test_noise_is_refused_whatever_it_is(ring: Keyring, noise: bytes) -> None:
    whole = envelope(ring)
    header = whole.sealed[:101]
    for sealed in (noise, header[:9] + noise, header + noise, whole.sealed[: len(noise) // 2]):
        with pytest.raises(CannotOpen):
            ring.open_envelope(changed(whole, sealed=sealed))


@pytest.mark.parametrize(
    "given",
    [
        {"message_id": factories.ids.new()},
        {"client_id": "example.com:client_002"},
        {"client_id": "example.org:client_001"},
        {"domain": "example.org"},
        {"client_id": "example.com", "domain": "client_001"},
    ],
)
def test_it_opens_only_as_the_message_it_was_sealed_as(
    ring: Keyring, given: dict[str, Any]
) -> None:
    with pytest.raises(CannotOpen):
        ring.open_envelope(changed(envelope(ring), **given))


def test_two_messages_can_not_swap_their_contents(ring: Keyring) -> None:
    sealer = Sealer()
    one, two = envelope(ring), envelope(ring)
    pieces = [
        sealer.seal(ring.sealing_key(), e.message_id, e.client_id, e.domain, b"x")
        for e in (one, two)
    ]
    assert pieces[0][ENCAPSULATED] == pieces[1][ENCAPSULATED], "one context, so the ids must tell"
    with pytest.raises(CannotOpen):
        ring.open_envelope(changed(one, sealed=pieces[1]))


def test_the_parts_that_it_is_bound_to_can_not_run_together() -> None:
    bound = sealing.additional_data
    assert bound(UUID(int=0), "a:b", "c") != bound(UUID(int=0), "a", "b:c")
    assert bound(UUID(int=0), "ab", "") != bound(UUID(int=0), "a", "b")


def test_another_keyring_can_not_open_it(ring: Keyring) -> None:
    with pytest.raises(CannotOpen, match="not known here"):
        factories.keyring().open_envelope(envelope(ring))


def test_a_key_under_the_right_id_that_is_another_key_opens_nothing(ring: Keyring) -> None:
    """As if the bundle had been tampered with on its way to the edge."""
    other = factories.keyring().sealing_key()
    mixed = SealingKey(ring.sealing_key().kid, other.public, other.use_until)
    whole = envelope(ring)
    sealed = Sealer().seal(mixed, whole.message_id, whole.client_id, whole.domain, b"x")
    with pytest.raises(CannotOpen):
        ring.open_envelope(changed(whole, sealed=sealed))


class Contexts:
    """Seals with one sealer; each context has an encapsulated secret of its own."""

    def __init__(self, key: SealingKey) -> None:
        self.sealer = Sealer()
        self.key = key

    def next(self, key: SealingKey | None = None) -> bytes:
        sealed = self.sealer.seal(key or self.key, UUID(int=1), "c", "d", b"content")
        return parse(sealed).encapsulated


def test_a_context_is_used_for_a_minute_and_no_longer(
    ring: Keyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    contexts = Contexts(ring.sealing_key())
    first = contexts.next()
    now = 1_059.9
    assert contexts.next() == first
    now = 1_060.1
    assert contexts.next() != first


def test_no_message_is_sealed_to_a_key_that_is_too_old(ring: Keyring) -> None:
    """What opens it may be destroyed by the time that somebody tries (I1)."""
    key, until = ring.sealing_key(), ring.sealing_key().use_until
    for ms, accepted in ((until, True), (until + 1, False)):
        message_id = UUID(bytes=first_id_at(ms))
        if accepted:
            assert Sealer().seal(key, message_id, "c", "d", b"x")
        else:
            with pytest.raises(Unavailable):
                Sealer().seal(key, message_id, "c", "d", b"x")


def test_a_new_key_makes_a_new_context(ring: Keyring) -> None:
    contexts = Contexts(ring.sealing_key())
    first = contexts.next()
    assert contexts.next(factories.keyring().sealing_key()) != first
    assert contexts.next() != first, "the old secret was kept"


def test_a_fork_makes_a_new_context(ring: Keyring, monkeypatch: pytest.MonkeyPatch) -> None:
    contexts = Contexts(ring.sealing_key())
    first = contexts.next()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert contexts.next() != first


def test_each_message_has_a_key_and_a_nonce_of_its_own(ring: Keyring) -> None:
    sealer = Sealer()
    pieces = [
        parse(sealer.seal(ring.sealing_key(), UUID(int=1), "c", "d", b"content"))
        for _ in range(100)
    ]
    assert len({piece.nonce for piece in pieces}) == 100
    secret = secrets.token_bytes(32)
    keys = {sealing.message_key(secret, UUID(int=n)) for n in range(100)}
    assert len(keys) == 100


def test_equal_numbers_hash_alike_in_a_domain_and_in_no_other(ring: Keyring) -> None:
    kid, hashed = ring.hash_number("example.com", NUMBER)
    assert ring.hash_number("example.com", NUMBER) == (kid, hashed)
    assert ring.hash_number("example.org", NUMBER)[1] != hashed
    assert ring.hash_number("example.com", NUMBER + "1")[1] != hashed
    assert factories.keyring().hash_number("example.com", NUMBER)[1] != hashed
    assert len(hashed) == 32


def test_content_is_read_back_strictly() -> None:
    assert decode_content(encode_content(Content("+12", "x"))) == Content("+12", "x")


def test_an_envelope_says_nothing_of_its_content(ring: Keyring) -> None:
    whole: Envelope = envelope(ring)
    assert NUMBER not in repr(whole)
    assert BODY not in repr(whole)
