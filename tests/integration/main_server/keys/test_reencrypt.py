"""Reencrypting: all rows move, whatever happens meanwhile, and then the old key is gone."""

from typing import Any

import pytest
from sqlalchemy import update

from gatepost.errors import NotFound
from gatepost.wire.envelope import Envelope
from main_server.keys import reencrypt as module
from main_server.keys.destroyed_repository import kid_of, list_destroyed
from main_server.keys.reencrypt import NotAllMoved, reencrypt
from main_server.keys.rows.form import seal_row
from main_server.store.database import transact
from main_server.store.tables import messages
from tests.factories import BODY
from tests.integration.main_server.keys.conftest import LONG_AGO, Cut, Cuts, House, meanwhile


def run(house: House) -> int:
    return max(reencrypt(house.engine, house.masters(), house.pair()), default=0)


def test_every_row_moves_to_another_key_and_the_old_one_is_gone(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH", 2)
    sent = house.delivered(5)
    other_day = house.delivered(1, LONG_AGO)
    bystander = house.other_room()
    theirs = bystander.envelope()
    bystander.deliver(theirs)
    before = {key.pair: key for key in house.data_keys()}
    old_bodies = {row["message_id"]: row["encrypted_body"] for row in house.all_rows()}

    assert run(house) == 5

    after = {key.pair: key for key in house.data_keys()}
    old, new = before[house.pair()], after[house.pair()]
    assert (new.state, new.key_id == old.key_id) == ("current", False)
    assert {key for pair, key in after.items() if pair != house.pair()} == {
        key for pair, key in before.items() if pair != house.pair()
    }
    for row in house.all_rows():
        moved = row["client_id"] == house.room.client_id and row["key_id"] == new.key_id
        assert moved == (row["encrypted_body"] != old_bodies[row["message_id"]])
        assert row["key_id"] != old.key_id
    house.assert_readable(*sent, *other_day, theirs)
    listed = transact(house.engine, list_destroyed)
    assert [(one.kid, one.cause) for one in listed] == [(kid_of(old.key_id), "reencrypted")]


def test_nothing_is_changed_of_a_row_but_body_and_key(house: House) -> None:
    house.delivered(3)
    before = house.all_rows()
    run(house)
    for was, is_now in zip(before, house.all_rows(), strict=True):
        changed = {name for name, value in was.items() if is_now[name] != value}
        assert changed == {"encrypted_body", "key_id"}


def rows_under(house: House, key_id: int, envelopes: list[Envelope]) -> list[bytes]:
    ids = {one.message_id.bytes for one in envelopes}
    rows = [row for row in house.all_rows() if row["message_id"] in ids]
    return [row["message_id"] for row in rows if row["key_id"] == key_id]


@pytest.mark.parametrize("after", [False, True], ids=["before it", "after it"])
@pytest.mark.parametrize("calls", range(9))
def test_cut_at_any_transaction_and_run_again_it_is_complete(
    house: House, monkeypatch: pytest.MonkeyPatch, calls: int, after: bool
) -> None:
    """Five rows in batches of two are begun, read and moved thrice, read once more, finished."""
    monkeypatch.setattr(module, "BATCH", 2)
    sent = house.delivered(5)
    old = house.data_keys()[0].key_id
    with monkeypatch.context() as patch:
        patch.setattr(module, "transact", Cuts(transact, calls, after=after))
        with pytest.raises(Cut):
            run(house)
    house.assert_readable(*sent)
    more = house.delivered()
    if calls or after:
        assert not rows_under(house, old, more), "what is begun must let nothing new be added"

    run(house)

    house.assert_readable(*sent, *more)
    assert [(key.state, key.key_id == old) for key in house.data_keys()] == [("current", False)]


def test_messages_keep_arriving_and_being_delivered_and_none_is_lost(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH", 5)
    sent = house.delivered(20)
    rooms = [house.room, house.other_room()]
    rooms[1].name = house.room.name

    def post(n: int) -> None:
        envelope = rooms[n % 2].envelope()
        rooms[n % 2].register(envelope)
        sent.append(envelope)
        rooms[(n + 1) % 2].deliver(envelope, send=False)

    def deliver(n: int) -> None:
        envelope = rooms[n % 2].envelope()
        rooms[n % 2].deliver(envelope)
        sent.append(envelope)

    first = house.data_keys()[0].key_id
    with meanwhile(post, deliver) as something_more:
        for _ in range(3):
            for _ in reencrypt(house.engine, house.masters(), house.pair()):
                something_more()

    assert house.statuses() == {"delivered": len(sent)}
    house.assert_readable(*sent)
    assert [(key.state, key.key_id == first) for key in house.data_keys()] == [("current", False)]


def test_a_row_that_does_not_open_keeps_the_old_key_from_being_destroyed(house: House) -> None:
    """Destroying a key that rows still name is what must not happen by mistake."""
    broken, *sent = house.delivered(3)
    change = update(messages).where(messages.c.message_id == broken.message_id.bytes)
    transact(house.engine, lambda c: c.execute(change.values(encrypted_body=b"\x01" + bytes(60))))
    with pytest.raises(NotAllMoved):
        run(house)
    house.assert_readable(*sent)
    assert {key.state for key in house.data_keys()} == {"current", "retired"}


def test_rows_that_were_erased_are_let_be(house: House) -> None:
    erased, *sent = house.delivered(3)
    change = update(messages).where(messages.c.message_id == erased.message_id.bytes)
    values = {"status": "erased", "encrypted_body": None, "key_id": None}
    transact(house.engine, lambda c: c.execute(change.values(values)))
    assert run(house) == 2
    row = house.room.row(erased.message_id)
    assert row is not None
    assert (row["encrypted_body"], row["key_id"]) == (None, None)
    house.assert_readable(*sent)


def test_a_row_that_changes_between_being_read_and_being_moved_keeps_its_change(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is erased, or moved by another, while its body is being sealed again."""
    erased, other, moved = (one.message_id for one in house.delivered(3))
    real = seal_row

    def meanwhile_changed(*args: Any) -> bytes:
        gone = {"status": "erased", "encrypted_body": None, "key_id": None}
        house.room.force(erased, **gone)
        house.room.force(other, encrypted_body=b"by another", key_id=5)
        return real(*args)

    monkeypatch.setattr(module, "seal_row", meanwhile_changed)
    run(house)
    rows = {row["message_id"]: row for row in house.all_rows()}
    assert (rows[erased.bytes]["encrypted_body"], rows[erased.bytes]["key_id"]) == (None, None)
    assert rows[other.bytes]["encrypted_body"] == b"by another"
    assert house.read(moved) == BODY


def test_a_day_without_a_key_is_not_found(house: House) -> None:
    with pytest.raises(NotFound):
        run(house)


def test_a_copy_of_a_row_from_before_opens_with_nothing_that_is_left(house: House) -> None:
    """What it is for: who has the old key and a copy has those messages, and no later ones."""
    (sent,) = house.delivered()
    copy = house.room.row(sent.message_id)
    assert copy is not None
    run(house)
    left = {key.key_id for key in house.data_keys()}
    assert copy["key_id"] not in left
    assert house.read(sent.message_id) == BODY
