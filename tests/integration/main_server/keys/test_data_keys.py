"""Data keys: what is written is written under a key that stays, however the others hurry (I1)."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import Event

import msgspec
import pytest
from sqlalchemy import Connection, text

from gatepost.clock import to_ms
from gatepost.errors import CannotOpen, KeysUnavailable
from gatepost.ids import id_ms
from gatepost.wire.contract import Registered
from gatepost.wire.envelope import Envelope, encode
from infra.dev.engines import MariaServer
from main_server.keys import repository
from main_server.keys.data_keys import BELIEVED_SECONDS
from main_server.keys.destroy import destroy
from main_server.keys.lifetimes import MAX_LIFETIME
from main_server.keys.reencrypt import begin, reencrypt
from main_server.store.database import transact
from tests.factories import BODY, LAST_MS
from tests.integration.main_server.conftest import settlement
from tests.integration.main_server.keys.conftest import LONG_AGO, House, wait_for_locks

NOW = partial(datetime.now, UTC)


def our_time() -> datetime:
    return NOW().replace(tzinfo=None)


def test_a_writer_that_was_asleep_while_its_key_was_replaced_uses_the_new_one(house: House) -> None:
    envelope = house.envelope()
    prepared = house.room.ring.data_keys(house.engine, [envelope])
    for _ in reencrypt(house.engine, house.masters(), house.pair()):
        pass

    key_id, _ = transact(house.engine, lambda c: prepared.hold(c).seal(envelope, b"x"))

    assert [key.key_id for key in house.data_keys()] == [key_id]


def test_whoever_replaces_a_key_waits_for_those_who_write_under_it(
    house: House, keys_server: MariaServer
) -> None:
    """The row is inserted, but not committed yet, when the key is to be replaced."""
    house.delivered()
    envelope = house.envelope()
    prepared = house.room.ring.data_keys(house.engine, [envelope])
    with ThreadPoolExecutor(1) as pool:
        with house.engine.begin() as writer:
            held_id, _ = prepared.hold(writer).seal(envelope, b"x")
            replaced = pool.submit(replace, house)
            wait_for_locks(keys_server)
            assert not replaced.done()
        old, new = replaced.result(10)
    assert old == held_id != new


def replace(house: House) -> tuple[int, int]:
    work = partial(begin, masters=house.masters(), pair=house.pair())
    exchange = transact(house.engine, work)
    return exchange.old.key_id, exchange.new.key_id


def test_an_erased_day_gets_no_key_and_its_late_messages_no_body(house: House) -> None:
    house.delivered(day=LONG_AGO)
    for _ in destroy(house.engine, house.pair(LONG_AGO), our_time(), "shell:test"):
        pass
    late = house.envelope(LONG_AGO)

    for ring in (house.room.ring, house.main_server()):
        prepared = ring.data_keys(house.engine, [late])
        assert not transact(house.engine, prepared.hold).covers(late)
    house.room.settle(settlement(late, envelope=encoded(late)))

    row = house.room.row(late.message_id)
    assert row is not None
    assert (row["status"], row["encrypted_body"], row["key_id"]) == ("failed", None, None)
    assert row["sender_number_hashed"] is None
    assert house.data_keys() == []


def encoded(envelope: Envelope) -> msgspec.Raw:
    return msgspec.Raw(encode(envelope))


def test_only_what_is_known_to_be_destroyed_is_called_unreadable(house: House) -> None:
    """Everything else may come back: a message is given up for good on no other ground."""
    (sent,) = house.delivered(day=LONG_AGO)
    row = house.room.row(sent.message_id)
    assert row is not None
    open_it = partial(
        house.main_server().open_row,
        house.engine,
        sent.message_id,
        row["client_id"],
        row["domain"],
        row["key_id"],
        row["encrypted_body"],
    )
    with lost_keys(house), pytest.raises(KeysUnavailable, match="Restore"):
        open_it()
    for _ in reencrypt(house.engine, house.masters(), house.pair(LONG_AGO)):
        pass
    with pytest.raises(KeysUnavailable, match="another key"):
        open_it()
    for _ in destroy(house.engine, house.pair(LONG_AGO), our_time(), "shell:test"):
        pass
    with pytest.raises(KeysUnavailable, match="another key"):
        open_it()


@contextmanager
def lost_keys(house: House) -> Iterator[None]:
    """As if they had been taken out of the database by hand."""
    keys = house.data_keys()
    transact(house.engine, lambda c: c.execute(text("DELETE FROM gatepost_keys.data_keys")))
    yield
    transact(house.engine, lambda c: repository.add_data_keys(c, keys))


def test_a_destroyed_key_is_forgotten_by_every_process_within_half_a_minute(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    (sent,) = house.delivered(day=LONG_AGO)
    row = house.room.row(sent.message_id)
    assert row is not None
    ring = house.main_server()
    named = (sent.message_id, row["client_id"], row["domain"], row["key_id"], row["encrypted_body"])
    assert BODY.encode() in ring.open_row(house.engine, *named)
    for _ in destroy(house.engine, house.pair(LONG_AGO), our_time(), "shell:test"):
        pass

    later = time.monotonic() + BELIEVED_SECONDS + 1
    monkeypatch.setattr(time, "monotonic", lambda: later)
    with pytest.raises(CannotOpen, match="destroyed"):
        ring.open_row(house.engine, *named)
    ring.refresh()
    assert ring._data._opened == {}


def test_many_writers_share_a_key_without_waiting_for_each_other(house: House) -> None:
    envelope = house.envelope()
    prepared = house.room.ring.data_keys(house.engine, [envelope])
    with house.engine.begin() as first, house.engine.begin() as second:
        set_patience(first)
        set_patience(second)
        assert prepared.hold(first).covers(envelope)
        assert prepared.hold(second).covers(envelope)


def set_patience(connection: Connection) -> None:
    connection.execute(text("SET SESSION innodb_lock_wait_timeout = 1"))


def test_a_key_is_made_only_under_the_master_key_of_the_moment(
    house: House, keys_server: MariaServer
) -> None:
    """Who adds a key while the master key is being exchanged waits, and wraps under the new one."""
    other = house.other_room()
    envelope = other.envelope()
    ready = Event()

    def add() -> None:
        ready.set()
        other.ring.data_keys(house.engine, [envelope])

    with ThreadPoolExecutor(1) as pool:
        with house.engine.begin() as rotating:
            repository.own_master(rotating)
            added = pool.submit(add)
            wait_for_locks(keys_server)
            assert not added.done()
            repository.change_master(rotating, b"elsewher", our_time())
        with pytest.raises(KeysUnavailable, match=b"elsewher".hex()):
            added.result(10)
    assert house.data_keys() == []


def test_a_lifetime_that_is_claimed_to_be_longer_does_not_outlive_the_key(house: House) -> None:
    """By a proxy that is wrong, or worse: its messages would hold up those that came with them."""
    late = house.envelope(LONG_AGO)
    claimed = house.room.envelope(message_id=late.message_id, expires_at=LAST_MS // 2)
    good = house.envelope()
    results = house.room.register(claimed, good)
    assert [one.result for one in results] == [Registered.EXPIRED, Registered.REGISTERED]
    fresh = house.room.envelope(expires_at=LAST_MS // 2)
    house.room.register(fresh)
    row = house.room.row(fresh.message_id)
    assert row is not None
    lives = to_ms(row["expires_at"]) - id_ms(fresh.message_id)
    assert lives == MAX_LIFETIME / timedelta(milliseconds=1)
