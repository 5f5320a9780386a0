"""A machine in the place of a lost one: what was kept comes before what would be made."""

import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from gatepost.config.settings import load
from gatepost.install import plans
from gatepost.install.authority import CA, FOUNDED
from gatepost.install.configuration import ETC, MASTER_KEY, PASSPHRASE
from gatepost.install.placing import CURRENT, version_at
from gatepost.install.restoring import LIST, Saved, check
from gatepost.install.shipped import Release
from gatepost.install.steps import Failure, carry_out
from main_server.backup.settings import BackupSettings
from tests.unit.install.pretended import Pretended

HOST, NAME = "gateway.example.net", "20261118T031500Z"
Releases = Callable[[str], Release]
IN_BACKUP = {
    f"{ETC}/proxy/config.yaml": b"mine: true\n",
    f"{ETC}/backup/config.yaml": b"store: {}\n",
    f"{ETC}/{PASSPHRASE}": b"a passphrase\n",
    f"{ETC}/migration/credentials/database.password": b"of old\n",
    FOUNDED: b"the CA of old",
    f"{CA}/intermediate.key": b"its key",
    LIST: b"a list of that night",
    "/etc/other": b"what is the operator's to bring back",
}


@pytest.fixture
def machine(tmp_path: Path) -> Pretended:
    made = Pretended(tmp_path / "root")
    made.in_backup = IN_BACKUP
    return made


@pytest.fixture
def saved(tmp_path: Path) -> Saved:
    folder = tmp_path / "saved"
    for name in (NAME, "20261117T031500Z"):
        backup = folder / "ledger" / name
        backup.mkdir(parents=True)
        for part in ("ledger", "files", "manifest"):
            (backup / part).write_text("sealed")
    (folder / "aes.key").write_bytes(b"k" * 32)
    (folder / "keys.backup").write_text("keys, sealed")
    (folder / "store.passphrase_file").write_text("a passphrase\n")
    (folder / "revoked.pem").write_text("a newer list")
    return Saved(folder)


def restore(machine: Pretended, release: Release, saved: Saved) -> list[str]:
    steps = plans.install(machine, release, plans.Wanted(HOST, saved=saved))
    return carry_out(steps, lambda _: None).changed


def test_what_was_kept_is_in_its_place_and_nothing_of_it_is_made(
    machine: Pretended, release: Releases, saved: Saved
) -> None:
    check(machine, saved)
    changed = restore(machine, release("1.0.0"), saved)
    for file, content in (
        (MASTER_KEY, b"k" * 32),
        (f"{ETC}/proxy/config.yaml", b"mine: true\n"),
        (f"{ETC}/migration/credentials/database.password", b"of old\n"),
        (f"{ETC}/{PASSPHRASE}", b"a passphrase\n"),
        ("/var/backups/gatepost/keys/keys.backup", b"keys, sealed"),
        (f"/var/backups/gatepost/ledger/{NAME}/manifest", b"sealed"),
        (FOUNDED, b"the CA of old"),
        (LIST, b"a newer list"),
    ):
        assert machine.path(file).read_bytes() == content, file
    assert not machine.path("/etc/other").exists()
    assert stat.S_IMODE(machine.path(MASTER_KEY).stat().st_mode) == 0o400
    assert stat.S_IMODE(machine.path(f"{ETC}/proxy/config.yaml").stat().st_mode) == 0o640
    assert not [what for what in changed if "a certificate authority" in what]
    assert not list(machine.path("/var/lib/gatepost").glob("restored-*")), "copies are left"
    assert version_at(machine, CURRENT) == "1.0.0"
    assert restore(machine, release("1.0.0"), saved) == []


def test_the_ledger_comes_before_its_keys_and_both_before_any_certificate(
    machine: Pretended, release: Releases, saved: Saved
) -> None:
    restore(machine, release("1.0.0"), saved)
    ledger = f"backup restore {NAME} --config {ETC}/backup/config.yaml"
    said = [
        next(n for n, one in enumerate(machine.commands) if words in one)
        for words in (ledger, "keys restore", "db grant", "cert issue")
    ]
    assert said == sorted(said)
    assert not [one for one in machine.commands if "db upgrade" in one or "ca init" in one]


def test_the_files_of_a_backup_want_no_database(
    machine: Pretended, release: Releases, saved: Saved, tmp_path: Path
) -> None:
    """Nor a password of one, which is in them."""
    restore(machine, release("1.0.0"), saved)
    config = tmp_path / "backup.yaml"
    config.write_text(machine.config_of_restore)
    settings = load(BackupSettings, config)
    assert settings.store.folder == Path("/var/backups/gatepost/ledger")
    assert settings.environment == "development", "production refuses a user without a password"


def test_broken_off_it_goes_on_from_there(
    machine: Pretended, release: Releases, saved: Saved
) -> None:
    for broken in ("--files-to", f"restore {NAME} --config {ETC}", "keys restore", "cert issue"):
        machine.broken = broken
        with pytest.raises(Failure, match="can't be done"):
            restore(machine, release("1.0.0"), saved)
        check(machine, saved)
    machine.broken = None
    machine.commands.clear()
    changed = restore(machine, release("1.0.0"), saved)
    assert not [one for one in machine.commands if "restore" in one]
    assert not [what for what in changed if "random" in what]


def test_nothing_goes_over_what_is_there(
    machine: Pretended, release: Releases, saved: Saved
) -> None:
    machine.broken = "cert issue"
    with pytest.raises(Failure, match="can't be done"):
        carry_out(plans.install(machine, release("1.0.0"), plans.Wanted(HOST)), lambda _: None)
    machine.broken = None
    with pytest.raises(Failure, match="There is another /etc/app_secrets"):
        restore(machine, release("1.0.0"), saved)
    machine.path(MASTER_KEY).unlink()
    machine.path(f"{ETC}/{PASSPHRASE}").unlink()
    before = machine.path(FOUNDED).read_bytes()
    with pytest.raises(Failure, match="goes over nothing") as failure:
        restore(machine, release("1.0.0"), saved)
    assert f"{ETC}/proxy/config.yaml" in str(failure.value)
    assert machine.path(FOUNDED).read_bytes() == before


def test_what_is_missing_is_said_at_once(machine: Pretended, saved: Saved) -> None:
    (saved.folder / "aes.key").unlink()
    for name in ("20261118T031500Z", "20261117T031500Z"):
        (saved.folder / "ledger" / name / "manifest").unlink()
    with pytest.raises(Failure, match="Nothing was changed") as failure:
        check(machine, saved)
    for words in ("aes.key: the master key", "ledger: the newest backup"):
        assert words in str(failure.value)
    assert "keys.backup" not in str(failure.value)


def test_a_machine_with_a_release_is_no_new_one(
    machine: Pretended, release: Releases, saved: Saved
) -> None:
    restore(machine, release("1.0.0"), saved)
    with pytest.raises(Failure, match="is installed here"):
        check(machine, saved)
