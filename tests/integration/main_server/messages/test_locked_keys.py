"""A key that can't be used holds up the messages under it, and no others (blueprint 3.6)."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from sqlalchemy import Table, select, update

from gatepost.wire.contract import Result
from gatepost.wire.envelope import Envelope, encode
from main_server.keys.service import open_keyring
from main_server.keys.service_keys import replace as replace_key
from main_server.store.database import transact
from main_server.store.tables import data_keys, service_keys
from tests.integration.main_server.conftest import Room, results, settlement

LOCKED = ("refused", "key_unavailable")


@contextmanager
def damaged(room: Room, table: Table, *where: Any) -> Iterator[None]:
    """As if a wrapped key had been restored from elsewhere; put right again at the end."""
    before = transact(room.engine, lambda c: c.execute(select(table.c.wrapped).where(*where)).one())
    spoilt = update(table).where(*where).values(wrapped=bytes(len(before.wrapped)))
    transact(room.engine, lambda c: c.execute(spoilt))
    try:
        yield
    finally:
        right = update(table).where(*where).values(wrapped=before.wrapped)
        transact(room.engine, lambda c: c.execute(right))


def restarted(room: Room) -> Room:
    """As another main server sees it, which knows no key yet."""
    return replace(room, ring=open_keyring(room.engine, room.ring.masters))


@pytest.fixture
def poor(engine: Any, ring: Any) -> Room:
    room = Room(engine, ring)
    room.register(room.envelope())  # its key is there
    return room


def raw(envelope: Envelope) -> msgspec.Raw:
    return msgspec.Raw(encode(envelope))


def locked(poor: Room) -> Any:
    return damaged(poor, data_keys, data_keys.c.client_id == poor.client_id)


def test_register_refuses_them_for_now_and_takes_the_others(room: Room, poor: Room) -> None:
    theirs, ours = poor.envelope(), room.envelope()
    with locked(poor):
        for accepted in (False, True):
            answers = restarted(room).register(theirs, ours, accepted=accepted)
            assert results(answers) == [LOCKED, ("registered", None)]
        assert room.row(theirs.message_id) is None
    assert results(restarted(room).register(theirs)) == [("registered", None)]


def test_a_refused_one_leaves_its_idempotency_key_alone(room: Room, poor: Room) -> None:
    keyed = {"key_mac": b"k" * 32, "payload_mac": b"p" * 32}
    first, second = poor.envelope(**keyed), poor.envelope(**keyed)
    with locked(poor):
        assert results(restarted(room).register(first)) == [LOCKED]
    assert results(restarted(room).register(second)) == [("registered", None)]


def test_deliver_has_them_tried_again_and_delivers_the_others(room: Room, poor: Room) -> None:
    theirs, ours = poor.envelope(), room.envelope()
    with locked(poor):
        answers = restarted(room).deliver(theirs, ours)
        assert results(answers) == [LOCKED, ("delivered", None)]
        assert [answer.retryable for answer in answers] == [True, False]
        assert room.row(theirs.message_id) is None
    assert results(restarted(room).deliver(theirs)) == [("delivered", None)]


def test_they_end_all_the_same_when_their_time_is_over(room: Room, poor: Room) -> None:
    late = poor.envelope(expires_at=1_000)
    given_up = poor.envelope()
    with locked(poor):
        main = restarted(room)
        assert results(main.deliver(late)) == [("expired", None)]
        main.settle(settlement(given_up, reason="attempts_used", envelope=raw(given_up)))
    assert room.status(late.message_id)[:2] == ("failed", "expired")
    assert room.status(given_up.message_id)[:2] == ("failed", "attempts_used")


def test_a_sealing_key_is_no_different(room: Room, poor: Room) -> None:
    """One that was replaced: without a current one a main server doesn't start."""
    old: Envelope = poor.envelope()
    kid = poor.ring.sealing_key().kid
    replace_key(room.engine, room.ring.masters, "sealing")
    with damaged(room, service_keys, service_keys.c.kid == kid):
        main = restarted(room)
        ours = main.envelope()
        answers = main.deliver(old, ours)
        assert results(answers) == [LOCKED, ("delivered", None)]
        assert results(main.register(old)) == [LOCKED]
    assert [one.result for one in restarted(room).deliver(old)] == [Result.DELIVERED]
