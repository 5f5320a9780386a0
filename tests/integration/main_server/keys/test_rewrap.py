"""Rotating the master key: at every moment all keys can be unwrapped with what the file holds."""

import secrets

import pytest

from gatepost.errors import KeysUnavailable
from gatepost.whole_file import replace_file
from main_server import key_file
from main_server.key_file import read_keys
from main_server.keys import repository
from main_server.keys.master import MasterKey
from main_server.keys.rewrap import rotate as module
from main_server.keys.rewrap.repository import count_under_others
from main_server.keys.rewrap.rotate import StillNeeded, finish, prepare, rewrap
from main_server.store.database import transact
from tests.integration.main_server.keys.conftest import LONG_AGO, Cut, Cuts, House, meanwhile


def rotate(house: House) -> bool:
    began = prepare(house.engine, house.file)
    for _ in rewrap(house.engine, house.masters()):
        pass
    finish(house.engine, house.file)
    return began


def kids(house: House) -> list[bytes]:
    return [MasterKey(key).kid for key in read_keys(house.file)]


def wrapped_under(house: House) -> set[bytes]:
    service_keys = [*house.service_keys(), *house.service_keys("number_mac")]
    return {key.master_kid for key in house.data_keys()} | {k.master_kid for k in service_keys}


def test_everything_is_wrapped_under_the_new_key_and_the_file_has_it_alone(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH", 2)
    sent = [*house.delivered(2), *house.delivered(2, LONG_AGO)]
    for _ in range(3):
        other = house.other_room()
        sent.append(other.envelope())
        other.deliver(sent[-1])
    (old,) = kids(house)
    wrapped = {key.key_id: key.wrapped for key in house.data_keys()}

    assert rotate(house) is True

    (new,) = kids(house)
    assert new != old
    assert wrapped_under(house) == {new}
    assert all(key.wrapped != wrapped[key.key_id] for key in house.data_keys())
    assert transact(house.engine, repository.find_master) == new
    house.assert_readable(*sent)
    assert house.file.stat().st_mode & 0o777 == 0o400


def test_a_server_that_runs_reads_the_file_again_when_it_meets_the_new_key(house: House) -> None:
    ring = house.main_server()
    prepare(house.engine, house.file)
    for _ in rewrap(house.engine, house.masters()):
        pass
    (sent,) = house.delivered()
    assert house.read(sent.message_id, ring)
    finish(house.engine, house.file)
    other = house.other_room()
    other.ring = ring
    late = other.envelope()
    other.deliver(late)
    house.assert_readable(sent, late)
    assert wrapped_under(house) == set(kids(house))


@pytest.mark.parametrize("after", [False, True], ids=["before it", "after it"])
@pytest.mark.parametrize("calls", range(9))
def test_cut_at_any_transaction_and_run_again_it_is_complete(
    house: House, monkeypatch: pytest.MonkeyPatch, calls: int, after: bool
) -> None:
    monkeypatch.setattr(module, "BATCH", 2)
    sent = [*house.delivered(1), *house.delivered(1, LONG_AGO)]
    before = kids(house)
    with monkeypatch.context() as patch:
        patch.setattr(module, "transact", Cuts(transact, calls, after=after))
        with pytest.raises(Cut):
            rotate(house)
    house.assert_readable(*sent)
    sent += house.delivered()

    rotate(house)

    assert len(kids(house)) == 1
    assert kids(house) != before
    assert wrapped_under(house) == set(kids(house))
    house.assert_readable(*sent)


@pytest.mark.parametrize("after", [False, True], ids=["before it", "after it"])
@pytest.mark.parametrize("calls", range(2))
def test_cut_at_a_writing_of_the_file_and_run_again_it_is_complete(
    house: House, monkeypatch: pytest.MonkeyPatch, calls: int, after: bool
) -> None:
    sent = house.delivered(2)
    with monkeypatch.context() as patch:
        patch.setattr(key_file, "replace_file", Cuts(replace_file, calls, after=after))
        with pytest.raises(Cut):
            rotate(house)
    house.assert_readable(*sent)
    rotate(house)
    house.assert_readable(*sent)
    assert wrapped_under(house) == set(kids(house))
    assert [one.name for one in house.folder.iterdir()] == ["master.key"]


def test_it_can_be_prepared_so_that_other_machines_get_the_file_first(house: House) -> None:
    """Until it goes on, servers with the old file and servers with the new one both work."""
    old_file = house.file.read_bytes()
    assert prepare(house.engine, house.file) is True
    assert prepare(house.engine, house.file) is False
    assert read_keys(house.file)[1] == old_file
    sent = house.delivered()
    assert wrapped_under(house) == {MasterKey(old_file).kid}
    assert rotate(house) is False
    house.assert_readable(*sent)
    assert len(kids(house)) == 1


def test_the_old_key_stays_as_long_as_something_needs_it(house: House) -> None:
    house.delivered()
    (key,) = house.data_keys()
    damaged = b"\x00" * len(key.wrapped)
    transact(house.engine, lambda c: repository.delete_data_key(c, key))
    broken = type(key)(
        key.key_id, key.client_id, key.day, key.state, key.master_kid, damaged, key.created_at
    )
    transact(house.engine, lambda c: repository.add_data_keys(c, [broken]))
    with pytest.raises(StillNeeded, match="1 keys"):
        rotate(house)
    assert len(kids(house)) == 2


def test_a_file_without_the_ledgers_key_is_refused(house: House) -> None:
    house.file.chmod(0o600)
    house.file.write_bytes(secrets.token_bytes(32))
    with pytest.raises(KeysUnavailable, match="does not hold"):
        prepare(house.engine, house.file)
    assert len(kids(house)) == 1


def test_a_key_that_is_destroyed_meanwhile_stays_destroyed(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was read, and would be written again."""
    house.delivered()
    (key,) = house.data_keys()
    real = module._wrap_again

    def destroy_first(*args: object) -> int:
        transact(house.engine, lambda c: repository.delete_data_key(c, key))
        return real(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "_wrap_again", destroy_first)
    rotate(house)
    assert house.data_keys() == []


def test_new_clients_come_and_keys_turn_while_it_runs(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each message is the first of its client, so each makes a key, under whichever master key."""
    monkeypatch.setattr(module, "BATCH", 3)
    rings = [house.main_server(), house.main_server()]
    sent = []

    def come(n: int) -> None:
        room = house.other_room() if n % 5 == 0 else type(house.room)(house.engine, rings[n % 2])
        envelope = room.envelope()
        room.deliver(envelope)
        sent.append(envelope)

    with meanwhile(come, come) as something_more:
        for _ in range(5):
            rotate(house)
            something_more()
    house.assert_readable(*sent)
    assert wrapped_under(house) == set(kids(house))
    (kid,) = kids(house)
    assert transact(house.engine, lambda c: count_under_others(c, kid)) == 0
