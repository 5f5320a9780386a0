"""`gatepost backup`, on real servers: what went in comes out, on an empty machine, and nothing else
can be made of it."""

import io
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tarfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import text

from gatepost.errors import ConfigurationError
from main_server.audit.verify import verify
from main_server.backup.content import find_all, name_of
from main_server.backup.restore import extract_files
from main_server.backup.tools import dump
from main_server.keys.alone import alone
from main_server.keys.backup import form
from main_server.keys.backup.content import read_backup, write_backup
from main_server.keys.backup.form import Sealing
from main_server.keys.backup.restore import restore as restore_keys
from main_server.keys.destroy import destroy
from main_server.messages.partitions import LOCK as PARTITIONS_LOCK
from main_server.retention.run import LOCK as RETENTION_LOCK
from main_server.retention.run_repository import last_restored
from tests.factories import BODY, NUMBER
from tests.heard import wait_until
from tests.integration.main_server.backup.conftest import Command, contents, note
from tests.integration.main_server.conftest import engine_of
from tests.integration.main_server.keys.conftest import LONG_AGO, Cuts, House, meanwhile

GATEPOST = Path(sys.executable).with_name("gatepost")
ENDED = ("sessions", "password_links", "enrolment_tokens", "redrives", "audit_log", "audit_head")
"""What a restore touches."""


def test_an_empty_machine_gets_all_that_was_in_the_ledger(house: House, backup: Command) -> None:
    house.delivered(3)
    house.room.register(house.envelope())
    note(house.engine, "example.com:client_001")
    before = contents(house.engine, *ENDED)
    assert len(before["messages"]) == 4
    made = backup.made()
    house.delivered(2)

    said = backup("restore", made.name)
    assert said.code == 0, said.err
    assert "4 messages" in said.out
    assert "gatepost keys restore" in said.out
    restored = engine_of(backup.target.url("gatepost_main"))
    assert contents(restored, *ENDED) == before
    assert verify(restored).fault is None
    restored.dispose()


def test_with_the_keys_own_backup_bodies_can_be_read_but_of_destroyed_days(
    house: House, backup: Command
) -> None:
    today, gone = house.delivered(1), house.delivered(1, LONG_AGO)
    made = backup.made()
    now = datetime.now(UTC).replace(tzinfo=None)
    list(destroy(house.engine, house.pair(LONG_AGO), now, "shell:test"))
    keys = house.folder / "keys.backup"
    write_backup(house.engine, Sealing(house.masters()), keys)

    assert backup("restore", made.name).code == 0
    restored = engine_of(backup.target.url("gatepost_main"))
    restore_keys(restored, house.masters(), read_backup(Sealing(house.masters()), keys))
    house.engine, house.room = restored, replace(house.room, engine=restored)
    assert house.read(today[0].message_id) == BODY
    row = house.room.row(gone[0].message_id)
    assert row is not None
    assert row["encrypted_body"] is not None, "the backup has the row as it was"
    with pytest.raises(Exception, match="key"):
        house.read(gone[0].message_id)
    restored.dispose()


def test_what_was_ended_since_does_not_come_back_to_life(house: House, backup: Command) -> None:
    day = datetime.now(UTC).replace(tzinfo=None)
    values: dict[str, Any] = {"hash": os.urandom(32), "at": day, "until": day + timedelta(days=7)}
    with house.engine.begin() as connection:
        connection.execute(
            text(
                "INSERT INTO enrolment_tokens (token_hash, domain, name, created_at, expires_at)"
                " VALUES (:hash, 'example.com', 'client_001', :at, :until)"
            ),
            values,
        )
        connection.execute(
            text(
                "INSERT INTO password_links (token_hash, user_id, created_at, expires_at)"
                " VALUES (:hash, REPEAT('u', 16), :at, :until)"
            ),
            values,
        )
    assert backup("restore", backup.made().name).code == 0
    restored = engine_of(backup.target.url("gatepost_main"))
    with restored.connect() as connection:
        open_tokens = "SELECT COUNT(*) FROM enrolment_tokens WHERE withdrawn_at IS NULL"
        assert connection.scalar(text(open_tokens)) == 0
        assert connection.scalar(text("SELECT COUNT(*) FROM password_links")) == 0
        last = connection.execute(text("SELECT action FROM audit_log ORDER BY seq DESC LIMIT 1"))
        assert last.scalar_one() == "ledger.restored"
        assert (last_restored(connection) or datetime.min) >= day.replace(microsecond=0), (
            "retention knows it"
        )
    restored.dispose()


def test_it_is_of_one_moment_while_others_write(house: House, backup: Command) -> None:
    """Each writes a message and an entry in one transaction: there are as many of the one as of
    the other, however long the dump takes."""
    sql = text("INSERT INTO sign_in_tries (tried, failures, last_at) VALUES (:id, 1, :at)")
    more = text(
        "INSERT INTO password_links (token_hash, user_id, created_at, expires_at)"
        " VALUES (:id, REPEAT('u', 16), :at, :at)"
    )

    def write(_: int) -> None:
        values = {"id": os.urandom(32), "at": datetime.now(UTC).replace(tzinfo=None)}
        with house.engine.begin() as connection:
            connection.execute(sql, values)
            connection.execute(more, values)

    with meanwhile(write):
        dumped = b"".join(dump(house_address(backup)))
    counts = [count_rows(dumped, table) for table in (b"sign_in_tries", b"password_links")]
    assert counts[0] == counts[1] > 0


def house_address(backup: Command) -> Any:
    engine = engine_of(backup.source.url("gatepost_backup"))
    engine.dispose()
    return engine.url


def count_rows(sql: bytes, table: bytes) -> int:
    lines = [one for one in sql.splitlines() if one.startswith(b"INSERT INTO `" + table)]
    return sum(line.count(b"),(") + 1 for line in lines)


def test_nothing_of_it_can_be_read_or_even_listed_by_others(house: House, backup: Command) -> None:
    house.delivered(2)
    files = backup.folder / "etc"
    files.mkdir()
    (files / "ca.key").write_text("the key of the CA")
    backup.configure(files=[str(files)])
    made = backup.made()
    assert {one.name for one in made.iterdir()} == {"ledger", "files", "manifest"}
    assert (made.parent.stat().st_mode | made.stat().st_mode) & 0o077 == 0
    for file in made.iterdir():
        data = file.read_bytes()
        for readable in (house.room.client_id, NUMBER, BODY, "the key of the CA", "CREATE TABLE"):
            assert readable.encode() not in data
            assert readable.encode().hex().encode() not in data


def test_with_root_files_come_back_as_whose_they_were(tmp_path: Path) -> None:
    """By name, for users have other numbers on another machine; nobody's who isn't known here."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, user, group in (("known", "nobody", "nogroup"), ("unknown", "of-old", "of-old")):
            member = tarfile.TarInfo(name)
            member.uname, member.gname, member.uid, member.mode = user, group, 4711, 0o4640
            archive.addfile(member, io.BytesIO())
    manifest = SimpleNamespace(lengths={"files": len(packed.getvalue())})
    backup: Any = SimpleNamespace(read=lambda _part: iter([packed.getvalue()]), manifest=manifest)
    extract_files(backup, tmp_path / "there")
    assert (tmp_path / "there").stat().st_mode & 0o7777 == 0o700
    known, unknown = ((tmp_path / "there" / name).stat() for name in ("known", "unknown"))
    wanted = (pwd.getpwnam("nobody").pw_uid, 0o640) if os.geteuid() == 0 else (os.geteuid(), 0o600)
    assert (known.st_uid, known.st_mode & 0o7777) == wanted
    assert (unknown.st_uid, unknown.st_mode & 0o7777) == (os.geteuid(), 0o600)


def test_the_ca_and_the_configuration_come_back_as_well(house: House, backup: Command) -> None:
    files = backup.folder / "etc"
    (files / "ca").mkdir(parents=True)
    (files / "ca" / "root.key").write_text("a key")
    (files / "proxy.yaml").write_text("server: {}")
    (files / "ca" / "latest").symlink_to("/etc/hostname")
    (files / "same.yaml").hardlink_to(files / "proxy.yaml")
    backup.configure(files=[str(files)])
    backup.made()
    there = backup.folder / "there"
    said = backup("restore", "--only-files", "--files-to", str(there))
    assert said.code == 0, said.err
    found = there / str(files).lstrip("/")
    assert (found / "ca" / "root.key").read_text() == "a key"
    assert there.stat().st_mode & 0o077 == 0
    assert (found / "proxy.yaml").read_text() == (found / "same.yaml").read_text() == "server: {}"
    assert str((found / "ca" / "latest").readlink()) == "/etc/hostname"
    again = backup("restore", "--only-files", "--files-to", str(there))
    assert again.code == 2
    assert "File exists" in again.err


def test_a_file_that_is_missing_is_said_before_anything_is_written(
    house: House, backup: Command
) -> None:
    backup.configure(files=["/etc/gatepost/nothing"])
    said = backup("create")
    assert said.code == 2
    assert "/etc/gatepost/nothing can't be read" in said.err
    assert not backup.backups.exists()


@pytest.mark.parametrize("how", ["altered", "cut off", "gone", "of another"])
def test_what_is_no_longer_whole_is_told(house: House, backup: Command, how: str) -> None:
    whole = backup.made().rename(backup.folder / "whole")
    for part in ("manifest", "files", "ledger"):
        made = shutil.copytree(whole, backup.backups / name_of(datetime.now(UTC)))
        file, data = made / part, (whole / part).read_bytes()
        if how == "altered":
            file.write_bytes(data[:-40] + bytes([data[-40] ^ 1]) + data[-39:])
        elif how == "cut off":
            file.write_bytes(data[:-17])
        elif how == "gone":
            file.unlink()
        else:
            shutil.rmtree(made)
            made = backup.made()
            shutil.copy(whole / part, made / part)
        said = backup("verify")
        assert said.code == 2
        assert ("of another backup" if how == "of another" else part) in said.err
        if part == "ledger":
            assert backup("restore").code == 2
        shutil.rmtree(made)


def test_the_backup_of_the_keys_is_never_in_it(house: House, backup: Command) -> None:
    files = backup.folder / "etc"
    files.mkdir()
    write_backup(house.engine, Sealing(house.masters()), files / "keys.backup")
    backup.configure(files=[str(files)])
    said = backup("create")
    assert said.code == 2
    assert "keys.backup is the backup of the keys" in said.err
    assert [*backup.backups.iterdir()] == []


def test_a_file_that_goes_while_it_is_read_spoils_nothing(
    house: House, backup: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = backup.folder / "etc"
    files.mkdir()
    (files / "draft").write_text("renamed in a moment")
    (files / "kept").write_text("there")
    is_of_keys = form.is_of_keys

    def and_gone(file: Path) -> bool:
        found = is_of_keys(file)
        if file.name == "draft":
            file.unlink()
        return found

    monkeypatch.setattr("main_server.backup.create.is_of_keys", and_gone)
    backup.configure(files=[str(files)])
    made = backup.made()
    there = backup.folder / "there"
    assert backup("restore", made.name, "--only-files", "--files-to", str(there)).code == 0
    assert [one.name for one in there.rglob("*") if one.is_file()] == ["kept"]


def test_another_passphrase_opens_nothing(house: House, backup: Command) -> None:
    backup.made()
    assert backup("verify").code == 0
    (backup.folder / "backup.passphrase").write_text("quite another passphrase")
    said = backup("verify")
    assert said.code == 2
    assert "the passphrase is another" in said.err


def test_it_never_goes_over_a_ledger_that_has_something(house: House, backup: Command) -> None:
    house.delivered(1)
    backup.made()
    assert backup("restore").code == 0
    said = backup("restore")
    assert said.code == 2
    assert "the ledger is not empty" in said.err


def test_one_of_a_later_release_is_refused(
    house: House, backup: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("main_server.store.schema.current", lambda _: "9999")
    backup.made()
    said = backup("restore")
    assert said.code == 2
    assert "later release (9999)" in said.err


def test_killed_half_way_there_is_none_and_the_next_one_tidies_up(
    house: House, backup: Command, tmp_path: Path
) -> None:
    """A program in its place that never ends stands for a dump that takes its time."""
    slow = tmp_path / "slow"
    slow.mkdir()
    (slow / "mariadb-dump").write_text("#!/bin/sh\necho '-- begun'\nexec sleep 60\n")
    (slow / "mariadb-dump").chmod(0o755)
    environment = {**os.environ, "PATH": f"{slow}{os.pathsep}{os.environ['PATH']}"}
    command = [str(GATEPOST), *backup.arguments("create")]
    with subprocess.Popen(command, env=environment, start_new_session=True) as child:
        wait_until(lambda: [*backup.backups.glob(".*/ledger")], 30)
        assert backup("create").code == 5, "another one is under way"
        os.killpg(child.pid, signal.SIGKILL)
    assert backup("list").code == 4
    assert [*backup.backups.glob(".*")] != []
    wait_until(lambda: backup("create").code == 0)  # the server notices that the other is gone
    assert [*backup.backups.glob(".*")] == []


def test_a_dump_without_an_end_is_no_backup(
    house: House, backup: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it says of itself. And what it needs to sign in is in no argument or environment."""
    folder = tmp_path / "program"
    folder.mkdir()
    told = tmp_path / "told"
    script = f'#!/bin/sh\n(echo "$@"; env) >{told}\necho "CREATE TABLE x"\n'
    (folder / "mariadb-dump").write_text(script)
    (folder / "mariadb-dump").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    said = backup("create")
    assert said.code == 5
    assert "has no end" in said.err
    assert [*backup.backups.iterdir()] == []
    password = house_address(backup).password
    assert password
    assert password not in told.read_text()


def test_a_full_disk_is_said_and_leaves_what_was_there(house: House, backup: Command) -> None:
    before = backup.made()
    house.delivered(5)
    limited = f"ulimit -f 8; exec {GATEPOST} {' '.join(backup.arguments('create'))}"
    ran = subprocess.run(["bash", "-c", limited], capture_output=True, text=True, check=False)
    assert ran.returncode == 5, ran.stderr
    assert "can't be written: File too large" in ran.stderr
    assert [one.name for one in backup.backups.iterdir()] == [before.name]


def test_a_week_is_kept_and_seven_whatever_the_clock_says(house: House, backup: Command) -> None:
    backup.backups.mkdir(mode=0o700)
    now = datetime.now(UTC)
    old = [backup.backups / name_of(now - timedelta(days=days)) for days in (400, *range(6, 12))]
    for folder in old:
        folder.mkdir()
    backup.made()
    kept = {one.name for one in backup.backups.iterdir()}
    assert len(kept) == 7
    assert old[0].name not in kept


def test_an_old_one_that_was_not_wholly_removed_is_none(
    house: House, backup: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed while it tidied up."""
    backup.backups.mkdir(mode=0o700)
    now = datetime.now(UTC)
    for days in range(9, 17):
        (backup.backups / name_of(now - timedelta(days=days))).mkdir()
    cut = Cuts(shutil.rmtree, 0, after=False)
    monkeypatch.setattr("main_server.backup.folder.shutil.rmtree", cut)
    assert backup("create").code != 0
    monkeypatch.undo()
    assert len(find_all(backup.backups)) == 8
    assert [*backup.backups.glob(".*")] != []


def test_beside_retention_none_is_begun_and_nobody_divides_a_table_that_is_read(
    house: House, backup: Command, tmp_path: Path
) -> None:
    """Retention waits for a snapshot that it sees; until there is one, its lock says so. A program
    in its place stands for a dump: it goes on when there is a file."""
    with alone(house.engine, RETENTION_LOCK):
        said = backup("create")
        assert said.code == 5
        assert "Retention is under way" in said.err
    begun, on, end = (tmp_path / name for name in ("begun", "on", "end"))
    script = (
        "#!/bin/sh\nwait_for() { n=0; while [ ! -e $1 ] && [ $n -lt 600 ]; do sleep 0.05;"
        f" n=$((n + 1)); done; }}\necho '-- begun'; touch {begun}; wait_for {on}\n"
        f"echo 'DROP TABLE x'; wait_for {end}\n"
    )
    folder = tmp_path / "program"
    folder.mkdir()
    (folder / "mariadb-dump").write_text(script)
    (folder / "mariadb-dump").chmod(0o755)
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    command = [str(GATEPOST), *backup.arguments("create")]
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as child:
        wait_until(begun.exists, 30)
        assert not is_free(house, RETENTION_LOCK)
        on.touch()
        wait_until(lambda: is_free(house, RETENTION_LOCK))
        assert not is_free(house, PARTITIONS_LOCK)
        end.touch()
        assert child.wait(30) == 5, "this dump has no end"
    assert is_free(house, PARTITIONS_LOCK)


def is_free(house: House, lock: str) -> bool:
    with house.engine.connect() as connection:
        return bool(connection.scalar(text("SELECT IS_FREE_LOCK(:name)"), {"name": lock}))


def test_the_database_tells_why_it_does_not_let_us(house: House, backup: Command) -> None:
    tree = backup.config.read_text()
    backup.config.write_text(
        tree.replace(
            backup.source.url("gatepost_backup"),
            "mysql+pymysql://nobody:Zk3-quite-unknown@127.0.0.1:1/gatepost",
        )
    )
    said = backup("create")
    assert said.code == 5
    assert "Traceback" not in said.err


def test_who_backs_up_cannot_read_the_keys(house: House, backup: Command) -> None:
    house.delivered(1)
    reader = engine_of(backup.source.url("gatepost_backup"))
    with reader.connect() as connection, pytest.raises(Exception, match="denied"):
        connection.execute(text("SELECT * FROM gatepost_keys.data_keys"))
    reader.dispose()


def test_a_drill_restores_for_trial_and_leaves_nothing(house: House, backup: Command) -> None:
    house.delivered(2)
    made = backup.made()
    said = backup("drill")
    assert said.code == 0, said.err
    assert "2 messages" in said.out
    assert "it took" in said.out
    with engine_of(backup.target.url("root", "mysql")).connect() as connection:
        schemas = connection.execute(text("SHOW DATABASES")).scalars().all()
        assert "gatepost_drill" not in schemas
        tables = connection.execute(text("SHOW TABLES FROM gatepost")).all()
        assert tables == []
    assert (
        "gatepost_backup_drill_last_success_seconds"
        in (backup.metrics / "gatepost_backup_drill_last_success.prom").read_text()
    )
    (made / "ledger").write_bytes((made / "ledger").read_bytes()[:-1])
    assert backup("drill").code == 2


def test_prometheus_is_told_of_the_last_one_and_the_last_good_one(
    house: House, backup: Command
) -> None:
    backup.made()
    good = (backup.metrics / "gatepost_backup_last_success.prom").read_text()
    assert (
        "gatepost_backup_last_run_ok 1.0"
        in (backup.metrics / "gatepost_backup_last_run.prom").read_text()
    )
    backup.configure(files=["/nothing"])
    assert backup("create").code == 2
    assert (
        "gatepost_backup_last_run_ok 0.0"
        in (backup.metrics / "gatepost_backup_last_run.prom").read_text()
    )
    assert (backup.metrics / "gatepost_backup_last_success.prom").read_text() == good


def test_a_drill_never_drops_what_is_not_its_own(house: House, backup: Command) -> None:
    tree = backup.config.read_text().replace("/gatepost_drill", "/gatepost")
    backup.config.write_text(tree)
    said = backup("drill")
    assert said.code == 2
    assert "one of its own" in said.err


@pytest.mark.parametrize("name", ["../out", "/out", "link/out"])
def test_nothing_is_written_outside_of_the_folder(tmp_path: Path, name: str) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, str(tmp_path)
        for member in (link, tarfile.TarInfo(name)):
            archive.addfile(member, io.BytesIO())
    manifest = SimpleNamespace(lengths={"files": len(packed.getvalue())})
    backup: Any = SimpleNamespace(read=lambda _part: iter([packed.getvalue()]), manifest=manifest)
    with pytest.raises(ConfigurationError, match="leads out of the folder"):
        extract_files(backup, tmp_path / "there")
    assert [one.name for one in tmp_path.iterdir()] == ["there"]
