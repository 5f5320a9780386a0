"""The backup of keys: what is lost comes back, what was destroyed does not (I6)."""

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import delete

from gatepost.errors import ConfigurationError, KeysUnavailable
from main_server.keys import service_keys
from main_server.keys.backup.content import read_backup, write_backup
from main_server.keys.backup.form import Sealing
from main_server.keys.backup.restore import restore
from main_server.keys.backup.standing import WouldLose, renew_backup
from main_server.keys.data_keys import unwrap
from main_server.keys.destroy import destroy
from main_server.keys.destroyed_repository import list_destroyed
from main_server.keys.reencrypt import begin, reencrypt
from main_server.keys.rewrap import rotate
from main_server.settings import Keys
from main_server.store.database import transact
from main_server.store.tables import destroyed_keys
from tests.integration.main_server.keys.conftest import LONG_AGO, House, empty


def our_time() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)


@pytest.fixture
def file(house: House) -> Path:
    return house.folder / "keys.backup"


def by_master(house: House) -> Sealing:
    return Sealing(house.masters())


def by_passphrase(house: House) -> Sealing:
    return Sealing(house.masters(), b"a long enough passphrase")


def write(house: House, file: Path) -> None:
    write_backup(house.engine, by_master(house), file)


def bring_back(house: House, file: Path) -> "Counter[str]":
    return restore(house.engine, house.masters(), read_backup(by_master(house), file))


def lose_all_keys(house: House) -> None:
    """The schema of the keys is gone; the ledger and the master key are there."""
    empty(house.engine, keys_only=True)


@pytest.mark.parametrize("sealing", [by_master, by_passphrase])
def test_lost_keys_come_back_and_open_what_they_sealed(
    house: House, file: Path, sealing: object
) -> None:
    sent = [*house.delivered(2), *house.delivered(2, LONG_AGO)]
    envelope = house.envelope()
    edge_mac = house.room.ring.edge_mac_key()
    assert callable(sealing)
    assert write_backup(house.engine, sealing(house), file) == 7
    lose_all_keys(house)

    content = read_backup(sealing(house), file)
    assert restore(house.engine, house.masters(), content) == {"restored": 7}

    house.assert_readable(*sent)
    ring = house.main_server()
    assert ring.open_envelope(envelope)
    assert ring.edge_mac_key() == edge_mac


def test_done_twice_it_changes_nothing(house: House, file: Path) -> None:
    house.delivered(1)
    write(house, file)
    before = [house.data_keys(), house.service_keys()]
    assert bring_back(house, file) == {"present": 6}
    assert [house.data_keys(), house.service_keys()] == before


def test_a_server_that_was_started_first_loses_nothing_of_its_own(house: House, file: Path) -> None:
    """It has made new keys: for today, and for itself. The restored ones come beside them."""
    sent = house.delivered(2)
    edge_mac = house.room.ring.edge_mac_key()
    write(house, file)
    lose_all_keys(house)
    house.room.ring = house.main_server()
    later = house.delivered(2)
    envelope = house.envelope()

    assert bring_back(house, file) == {"restored": 6}

    house.assert_readable(*sent, *later)
    ring = house.main_server()
    assert ring.open_envelope(envelope)
    assert ring.edge_mac_key() == edge_mac, "what was posted before must be recognised"
    assert {key.state for key in house.data_keys()} == {"current", "retired"}
    for _ in reencrypt(house.engine, house.masters(), house.pair()):
        pass
    house.assert_readable(*sent, *later)


def test_a_third_key_of_one_day_has_no_room_and_is_told(house: House, file: Path) -> None:
    house.delivered(1)
    write(house, file)
    lose_all_keys(house)
    house.room.ring = house.main_server()
    house.delivered(1)
    transact(house.engine, lambda c: begin(c, house.masters(), house.pair()))
    assert bring_back(house, file) == {"restored": 5, "blocked": 1}


@pytest.mark.parametrize("forgetful", [False, True], ids=["", "a ledger of before"])
def test_a_destroyed_day_is_not_restored(house: House, file: Path, forgetful: bool) -> None:
    """Nor where the ledger itself was restored and has forgotten, if the backup knows of it."""
    house.delivered(1, LONG_AGO)
    house.delivered(1)
    old = house.folder / "old.backup"
    write(house, old)
    for _ in destroy(house.engine, house.pair(LONG_AGO), our_time(), "shell:test"):
        pass
    write(house, file)
    if forgetful:
        transact(house.engine, lambda c: c.execute(delete(destroyed_keys)))
        bring_back(house, file)
    assert bring_back(house, old) == {"present": 6, "destroyed": 1}
    lose_all_keys(house)
    assert bring_back(house, old) == {"restored": 6, "destroyed": 1}
    assert {key.pair for key in house.data_keys()} == {house.pair()}


def test_a_leaked_key_is_not_restored(house: House, file: Path) -> None:
    sent = house.delivered(1)
    write(house, file)
    (leaked,) = house.data_keys()
    for _ in reencrypt(house.engine, house.masters(), house.pair()):
        pass
    assert bring_back(house, file) == {"present": 5, "destroyed": 1}
    assert leaked.key_id not in {key.key_id for key in house.data_keys()}
    house.assert_readable(*sent)


def test_a_sealing_key_that_has_died_is_not_restored(
    house: House, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service_keys.replace(house.engine, house.masters(), "sealing")
    write(house, file)
    monkeypatch.setattr(service_keys, "dies_at", lambda *_: datetime(2000, 1, 1))
    assert len(service_keys.destroy_dead(house.engine)) == 1
    monkeypatch.undo()
    assert bring_back(house, file) == {"present": 5, "destroyed": 1}
    transact(house.engine, lambda c: c.execute(delete(destroyed_keys)))
    monkeypatch.setattr(service_keys, "dies_at", lambda *_: datetime(2000, 1, 1))
    assert bring_back(house, file) == {"present": 5, "destroyed": 1}, "its time is over anyway"


def test_the_file_is_sealed_and_private_and_has_one_generation(house: House, file: Path) -> None:
    house.delivered(1)
    write(house, file)
    first = file.read_bytes()
    bare = [unwrap(house.masters(), key) for key in house.data_keys()]
    bare.append(house.room.ring.edge_mac_key())
    assert not any(key in first for key in bare)
    assert file.stat().st_mode & 0o777 == 0o600
    write(house, file)
    assert file.read_bytes() != first
    assert sorted(one.name for one in house.folder.iterdir()) == ["keys.backup", "master.key"]


def test_what_is_destroyed_goes_from_the_standing_backup_as_well(house: House, file: Path) -> None:
    settings = Keys(master_key_file=house.file, backup_file=file)
    house.delivered(1, LONG_AGO)
    renew_backup(house.engine, house.masters(), settings)
    assert len(read_backup(by_master(house), file).data_keys) == 1
    for _ in destroy(house.engine, house.pair(LONG_AGO), our_time(), "shell:test"):
        pass
    renew_backup(house.engine, house.masters(), settings)
    content = read_backup(by_master(house), file)
    assert content.data_keys == []
    assert content.destroyed == transact(house.engine, list_destroyed)


def test_it_is_never_written_over_by_a_ledger_that_has_lost_its_keys(
    house: House, file: Path
) -> None:
    """As one that was restored, before the keys are."""
    settings = Keys(master_key_file=house.file, backup_file=file)
    sent = house.delivered(1)
    renew_backup(house.engine, house.masters(), settings)
    before = file.read_bytes()
    empty(house.engine, keys_only=True)
    with pytest.raises(WouldLose, match="gatepost keys restore"):
        renew_backup(house.engine, house.masters(), settings)
    assert file.read_bytes() == before
    restore(house.engine, house.masters(), read_backup(by_master(house), file))
    renew_backup(house.engine, house.masters(), settings)
    house.assert_readable(*sent)


def test_without_the_master_key_of_its_time_it_can_not_be_opened(house: House, file: Path) -> None:
    write(house, file)
    rotate.prepare(house.engine, house.file)
    for _ in rotate.rewrap(house.engine, house.masters()):
        pass
    rotate.finish(house.engine, house.file)
    with pytest.raises(KeysUnavailable, match="not in the master key file"):
        read_backup(by_master(house), file)


@pytest.mark.parametrize("place", [0, 10, 40, 60, 200, -1])
def test_an_altered_one_is_refused(house: House, file: Path, place: int) -> None:
    house.delivered(1)
    write(house, file)
    data = bytearray(file.read_bytes())
    data[place] ^= 1
    file.write_bytes(data)
    with pytest.raises((ConfigurationError, KeysUnavailable)):
        read_backup(by_master(house), file)


def test_another_passphrase_opens_nothing(house: House, file: Path) -> None:
    write_backup(house.engine, by_passphrase(house), file)
    with pytest.raises(ConfigurationError, match="passphrase is another"):
        read_backup(Sealing(house.masters(), b"another long passphrase"), file)
    with pytest.raises(ConfigurationError, match="--passphrase-file"):
        read_backup(by_master(house), file)


def test_one_that_may_not_be_read_is_not_written_over(
    house: House, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have keys that nothing else has. As who isn't root meets it that root once made."""
    write(house, file)
    before = file.read_bytes()

    def refuse(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    settings = Keys.model_construct(backup_file=file, backup_passphrase_file=None)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", refuse)
        with pytest.raises(ConfigurationError, match=f"chown --reference={file.parent} {file}"):
            renew_backup(house.engine, house.masters(), settings)
    assert file.read_bytes() == before
