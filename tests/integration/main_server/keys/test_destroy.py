"""Destroying a day: not too early, never half, and what is gone is gone in every copy."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any
from uuid import UUID

import msgspec
import pytest
from sqlalchemy import text

from gatepost.errors import CannotOpen, NotFound
from gatepost.wire.envelope import encode
from infra.dev.engines import MariaServer
from main_server.keys import destroy as module
from main_server.keys import repository
from main_server.keys.data_keys import unwrap
from main_server.keys.destroy import Held, TooEarly, destroy, plan
from main_server.keys.destroyed_repository import find_erased_day
from main_server.keys.reencrypt import begin
from main_server.keys.rows.form import open_row
from main_server.messages.arrivals import arrive, queued_row
from main_server.messages.repository import AcceptedBy, insert_queued
from main_server.store.database import transact
from main_server.tenants import hold_repository as holds
from tests.integration.main_server.keys.conftest import (
    LONG_AGO,
    Cut,
    Cuts,
    House,
    meanwhile,
    wait_for_locks,
)


def our_time() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)


def run(house: House, day: Any = LONG_AGO, now: datetime | None = None) -> int:
    pair, moment = house.pair(day), now or our_time()
    return max(destroy(house.engine, pair, moment, "shell:test"), default=0)


def assert_erased(house: House) -> None:
    for row in house.all_rows():
        if row["client_id"] == house.room.client_id:
            gone = ("encrypted_body", "key_id", "sender_number_hashed", "hmac_kid")
            assert [row[name] for name in gone] == [None] * 4
            assert row["status"] == "erased"


def test_the_key_goes_and_the_rows_lose_body_and_number(house: House) -> None:
    house.delivered(3, LONG_AGO)
    other_day = house.delivered(2)
    bystander = house.other_room()
    theirs = bystander.envelope(message_id=house.envelope(LONG_AGO).message_id)
    bystander.register(theirs, accepted=True)

    assert run(house) == 3

    assert house.pair(LONG_AGO) not in {key.pair for key in house.data_keys()}
    assert house.statuses()["erased"] == 3
    house.assert_readable(*other_day)
    listed = transact(house.engine, lambda c: find_erased_day(c, house.pair(LONG_AGO)))
    assert listed is not None
    assert listed.finished_at is not None


def test_what_else_a_row_says_stays(house: House) -> None:
    (sent,) = house.delivered(1, LONG_AGO)
    before = house.room.row(sent.message_id)
    run(house)
    after = house.room.row(sent.message_id)
    assert before is not None
    assert after is not None
    changed = {name for name in before if before[name] != after[name]}
    gone = {"encrypted_body", "key_id", "sender_number_hashed", "hmac_kid"}
    assert changed == {"status"} | gone


def test_no_copy_of_a_row_opens_with_anything_that_is_left(house: House) -> None:
    """A dump from before holds the row; the key is neither in the database nor can it be made."""
    (sent,) = house.delivered(1, LONG_AGO)
    copies = house.all_rows()
    house.delivered(1)
    run(house)
    house.room.register(house.envelope(LONG_AGO), accepted=True)

    masters = house.masters()
    left = [unwrap(masters, key) for key in house.data_keys()]
    left += [house.file.read_bytes(), house.room.ring.edge_mac_key()]
    tried = 0
    for copy, key in product(copies, left):
        named = UUID(bytes=copy["message_id"]), copy["client_id"], copy["domain"]
        with pytest.raises(CannotOpen):
            open_row(key, copy["key_id"], *named, copy["encrypted_body"])
        tried += 1
    assert tried >= 3
    with pytest.raises(CannotOpen, match="destroyed"):
        house.main_server().open_row(
            house.engine,
            sent.message_id,
            copies[0]["client_id"],
            copies[0]["domain"],
            copies[0]["key_id"],
            copies[0]["encrypted_body"],
        )


def test_the_copies_would_have_opened_before(house: House) -> None:
    """So that the test above can fail."""
    house.delivered(1, LONG_AGO)
    (copy,) = house.all_rows()
    (key,) = [unwrap(house.masters(), key) for key in house.data_keys()]
    named = UUID(bytes=copy["message_id"]), copy["client_id"], copy["domain"]
    assert open_row(key, copy["key_id"], *named, copy["encrypted_body"])


DAY = timedelta(days=1)


@pytest.mark.parametrize("days", [0, 1, 3, 5])
def test_a_day_whose_messages_may_still_be_delivered_is_refused(house: House, days: int) -> None:
    """The day itself, four days that a message may live, and one more."""
    day = our_time().date() - days * DAY
    house.delivered(1, day)
    with pytest.raises(TooEarly, match="from"):
        run(house, day)
    assert len(house.data_keys()) == 1
    assert plan(house.engine, house.pair(day), our_time()).refusal


def test_the_sixth_day_is_old_enough(house: House) -> None:
    day = our_time().date() - 6 * DAY
    house.delivered(1, day)
    assert run(house, day) == 1


@pytest.mark.parametrize("which", ["ours", "the ledger's"])
def test_a_clock_that_runs_ahead_destroys_nothing(
    house: House, monkeypatch: pytest.MonkeyPatch, which: str
) -> None:
    """Both have to say that it is time."""
    house.delivered()
    ahead = our_time() + timedelta(days=400)
    if which == "the ledger's":
        monkeypatch.setattr(repository, "read_time", lambda _: ahead)
    with pytest.raises(TooEarly):
        run(house, None, ahead if which == "ours" else our_time())


def test_it_is_refused_as_long_as_a_message_is_queued(house: House) -> None:
    waiting = house.envelope(LONG_AGO)
    house.room_on(LONG_AGO).register(waiting)
    house.delivered(2, LONG_AGO)
    with pytest.raises(TooEarly, match="1 messages"):
        run(house)
    house.room_on(LONG_AGO).deliver(waiting, send=False)
    assert run(house) == 3


@pytest.mark.parametrize("whole", [False, True], ids=["the client", "its domain"])
def test_what_is_on_legal_hold_stays_until_it_is_lifted(house: House, whole: bool) -> None:
    (sent,) = house.delivered(1, LONG_AGO)
    one = house.hold(whole=whole)
    with pytest.raises(Held, match=f"Case 4711\n.* lift {UUID(bytes=one.hold_id)}"):
        run(house)
    assert isinstance(plan(house.engine, house.pair(LONG_AGO), our_time()).refusal, Held)
    house.assert_readable(sent)
    closed = (one.hold_id, "shell:test", "closed", our_time())
    transact(house.engine, lambda connection: holds.lift_hold(connection, *closed))
    assert run(house) == 1


def test_a_hold_on_another_client_keeps_nothing_of_ours(house: House) -> None:
    ours, house.room = house.room, house.other_room()
    house.hold()
    house.room = ours
    house.delivered(1, LONG_AGO)
    assert run(house) == 1


def test_it_waits_for_a_hold_that_is_being_set(house: House, keys_server: MariaServer) -> None:
    (sent,) = house.delivered(1, LONG_AGO)
    with ThreadPoolExecutor(1) as pool:
        with house.engine.begin() as setting:
            holds.own(setting)
            house.hold()
            destroyed = pool.submit(run, house)
            wait_for_locks(keys_server)
            assert not destroyed.done()
        with pytest.raises(Held):
            destroyed.result(10)
    house.assert_readable(sent)


def test_a_hold_that_comes_in_between_keeps_the_rows_that_are_left(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH", 2)
    house.delivered(5, LONG_AGO)
    begun = destroy(house.engine, house.pair(LONG_AGO), our_time(), "shell:test")
    assert next(begun) == 2
    house.hold()
    with pytest.raises(Held):
        next(begun)
    assert house.statuses() == {"erased": 2, "delivered": 3}


def test_it_is_in_the_audit_log_once_with_who_did_it(house: House) -> None:
    house.delivered(2, LONG_AGO)
    for _ in range(2):
        run(house)
    query = text("SELECT actor, action, subject, domain, details FROM audit_log")
    (row,) = transact(house.engine, lambda connection: connection.execute(query).all())
    whose = house.room.client_id, house.room.domain
    assert row[:4] == ("shell:test", "key.destroyed", *whose)
    assert json.loads(row[4]) == {"day": LONG_AGO.isoformat(), "messages": {"delivered": 2}}


def test_it_waits_for_who_writes_and_sees_what_was_written(
    house: House, keys_server: MariaServer
) -> None:
    """A message is being registered, but not committed yet, when its day is to be destroyed."""
    house.delivered(1, LONG_AGO)
    waiting = house.envelope(LONG_AGO)
    prepared = house.room.ring.data_keys(house.engine, [waiting])
    arrival = arrive(house.room.ring, msgspec.Raw(encode(waiting)))
    assert arrival is not None
    with ThreadPoolExecutor(1) as pool:
        with house.engine.begin() as writer:
            row = queued_row(house.room.ring, prepared.hold(writer), arrival, waiting.queued_at)
            insert_queued(writer, [row], AcceptedBy.BOTH)
            destroyed = pool.submit(run, house)
            wait_for_locks(keys_server)
            assert not destroyed.done()
        with pytest.raises(TooEarly, match="1 messages"):
            destroyed.result(10)
    house.assert_readable(waiting)


def test_a_day_without_a_key_is_not_found(house: House) -> None:
    with pytest.raises(NotFound):
        run(house)


@pytest.mark.parametrize("after", [False, True], ids=["before it", "after it"])
@pytest.mark.parametrize("calls", range(8))
def test_cut_at_any_transaction_and_run_again_it_is_complete(
    house: House, monkeypatch: pytest.MonkeyPatch, calls: int, after: bool
) -> None:
    """Five rows in batches of two: the key, then listed and erased thrice, then finished."""
    monkeypatch.setattr(module, "BATCH", 2)
    house.delivered(5, LONG_AGO)
    with monkeypatch.context() as patch:
        patch.setattr(module, "transact", Cuts(transact, calls, after=after))
        with pytest.raises(Cut):
            run(house)
    run(house)
    assert_erased(house)
    assert house.data_keys() == []
    assert run(house) == 0


def test_one_that_was_being_reencrypted_loses_both_keys(house: House) -> None:
    house.delivered(2, LONG_AGO)
    transact(house.engine, lambda c: begin(c, house.masters(), house.pair(LONG_AGO)))
    house.delivered(1, LONG_AGO)
    assert len(house.data_keys()) == 2
    assert run(house) == 3
    assert house.data_keys() == []
    assert_erased(house)


def test_duplicates_stay_what_they_are(house: House) -> None:
    """Nothing leaves `duplicate`; and there is nothing in it."""
    (sent,) = house.delivered(1, LONG_AGO)
    house.room.force(sent.message_id, status="duplicate", encrypted_body=None, key_id=None)
    assert run(house) == 0
    assert house.statuses() == {"duplicate": 1}


def test_messages_that_arrive_meanwhile_are_delivered_and_readable(house: House) -> None:
    house.delivered(30, LONG_AGO)
    sent = []

    def deliver(_: int) -> None:
        envelope = house.room.envelope()
        house.room.deliver(envelope)
        sent.append(envelope)

    def come_late(_: int) -> None:
        house.room.register(house.envelope(LONG_AGO), accepted=True)

    with meanwhile(deliver, come_late):
        run(house)
    house.assert_readable(*sent)
    assert {key.pair for key in house.data_keys()} == {house.pair()}
