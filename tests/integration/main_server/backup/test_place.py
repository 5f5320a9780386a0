"""Where backups are: whose they are, and whether there is room, before anything is written."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import text

from gatepost.config.settings import load
from gatepost.room import free_at
from main_server.backup.content import MANIFEST, Opened, find, name_of, write_manifest
from main_server.backup.sealed import BackupKey, read_salt
from main_server.backup.settings import BackupSettings
from main_server.commands.doctor.nights import judge_owners
from tests.giving import Giving
from tests.integration.main_server.backup.conftest import PASSPHRASE, Command
from tests.integration.main_server.conftest import engine_of
from tests.integration.main_server.keys.conftest import House


def test_what_root_makes_and_says_is_whose_the_folder_is(
    house: House, backup: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An operator types what doctor names; the next night is the service's again."""
    giving = Giving(monkeypatch)
    owner = giving.folder(backup.backups)
    made = backup.made()
    assert backup("drill").code == 0
    said = [*backup.metrics.iterdir()]
    assert len(said) == 3
    assert {giving.owner(one) for one in (made, *made.iterdir(), *said)} == {owner}


def test_one_of_anothers_is_told_with_what_mends_it(
    house: House, backup: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = backup.made()
    settings = load(BackupSettings, backup.config)
    assert [*judge_owners(settings)] == []
    if os.geteuid() == 0:
        os.chown(backup.backups, 54321, 54321)
        (found,) = judge_owners(settings)
        assert str(made) in (found.command or "")
    (backup.backups / f".{name_of(datetime.now(UTC))}").mkdir()
    monkeypatch.setattr(shutil, "rmtree", _refuse)
    said = backup("create")
    assert said.code == 2
    assert f"chown -R --reference={backup.backups}" in said.err


def _refuse(place: Path, ignore_errors: bool = False) -> None:
    if not ignore_errors:
        raise PermissionError(13, "Permission denied", str(place))


def test_no_backup_is_begun_without_room_for_one(house: House, backup: Command) -> None:
    """The last one tells how much; this one says that it was larger than what is free."""
    last = backup.backups / name_of(datetime.now(UTC) - timedelta(days=1))
    last.mkdir(parents=True)
    with (last / "ledger").open("wb") as file:
        file.truncate(free_at(backup.folder))
    said = backup("create")
    assert said.code == 5
    assert f"in {backup.backups}" in said.err
    assert "Nothing was changed" in said.err
    assert [*backup.backups.iterdir()] == [last]


def test_no_ledger_is_read_in_without_room_for_it(house: House, backup: Command) -> None:
    """Neither for trial, beside the one that messages come into, nor on an empty machine."""
    house.delivered(1)
    made = backup.made()
    assert Opened(find(backup.backups, None), PASSPHRASE.encode()).manifest.table_bytes
    _say(made, table_bytes=free_at(backup.folder))
    there = backup.folder / "there"
    for command in (["drill"], ["restore", "--files-to", str(there)]):
        said = backup(*command)
        assert said.code == 5, said.err
        assert "MiB in " in said.err
        assert "Nothing was changed" in said.err
    assert not there.exists()
    assert _tables(backup) == []
    _say(made, table_bytes=None)
    assert backup("drill").code == 0, "of a former release, that didn't say"


def test_no_files_are_put_where_they_have_no_room(house: House, backup: Command) -> None:
    made = backup.made()
    opened = Opened(find(backup.backups, None), PASSPHRASE.encode())
    _say(made, lengths={**opened.manifest.lengths, "files": free_at(backup.folder)})
    there = backup.folder / "there"
    said = backup("restore", "--only-files", "--files-to", str(there))
    assert said.code == 5
    assert f"in {there}" in said.err
    assert not there.exists()


def test_a_replica_is_not_backed_up(house: House, backup: Command) -> None:
    """Its locks are its own, and keep neither retention nor the nightly job off."""
    with _takes_no_changes(backup):
        said = backup("create")
    assert said.code == 2
    assert "as a replica does" in said.err
    assert [*backup.backups.iterdir()] == []


@contextmanager
def _takes_no_changes(backup: Command) -> Iterator[None]:
    root = engine_of(backup.source.url("root", "mysql"))
    try:
        with root.begin() as connection:
            connection.execute(text("SET GLOBAL read_only = ON"))
        yield
    finally:
        with root.begin() as connection:
            connection.execute(text("SET GLOBAL read_only = OFF"))
        root.dispose()


def _say(made: Path, **said: object) -> None:
    """A manifest that says something else of the same backup."""
    opened = Opened(find(made.parent, made.name), PASSPHRASE.encode())
    manifest = msgspec.structs.replace(opened.manifest, **said)
    with (made / MANIFEST).open("rb") as file:
        key = BackupKey(PASSPHRASE.encode(), read_salt(file))
    with (made / MANIFEST).open("wb") as file:
        write_manifest(file, key, manifest)


def _tables(backup: Command) -> list[str]:
    """Of what there is on the machine that is restored onto."""
    root = engine_of(backup.target.url("root", "mysql"))
    with root.connect() as connection:
        query = "SELECT table_name FROM information_schema.tables WHERE table_schema LIKE :name"
        found = connection.scalars(text(query), {"name": "gatepost%"}).all()
    root.dispose()
    return [str(name) for name in found]
