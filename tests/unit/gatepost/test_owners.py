"""What root makes in a service's folder is the service's; what a service replaces is its own."""

import os
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from gatepost import textfile
from gatepost.client.files import Files
from gatepost.owners import Owner, owner_called, owner_of
from gatepost.whole_file import replace_file
from tests.giving import STRANGER, Giving


@pytest.fixture
def giving(monkeypatch: pytest.MonkeyPatch) -> Giving:
    return Giving(monkeypatch)


def test_root_leaves_a_new_file_to_whose_the_folder_is(giving: Giving, tmp_path: Path) -> None:
    owner = giving.folder(folder := tmp_path / "keys")
    for content in (b"made", b"replaced"):
        replace_file(folder / "keys.backup", content)
        assert giving.owner(folder / "keys.backup") == owner


def test_a_lock_of_roots_does_not_shut_the_service_out(giving: Giving, tmp_path: Path) -> None:
    """`gatepost cert renew`, as root: the timer's own must open the same lock later."""
    owner = giving.folder(folder := tmp_path / "tls")
    with Files(folder / "ca.pem", folder / "own.pem", folder / "own.key").alone():
        pass
    assert giving.owner(folder / "own.key.lock") == owner


def test_a_service_replaces_what_was_roots_and_it_is_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder := tmp_path / "keys").mkdir()
    (folder / "revoked.pem").write_bytes(b"of root")
    monkeypatch.chdir(folder)  # the folders above are for whoever runs the tests
    if os.geteuid() == 0:
        os.chown(folder, STRANGER, STRANGER)
        os.seteuid(STRANGER)
        try:
            replace_file(Path("revoked.pem"), b"anew")
        finally:
            os.seteuid(0)
        assert (folder / "revoked.pem").stat().st_uid == STRANGER
    else:
        monkeypatch.setattr(os, "geteuid", lambda: STRANGER)
        monkeypatch.setattr(os, "fchown", _not_permitted)
        replace_file(Path("revoked.pem"), b"anew")
    assert (folder / "revoked.pem").read_bytes() == b"anew"


def _not_permitted(*_: object) -> None:
    raise PermissionError(1, "Operation not permitted")


def test_what_is_said_of_a_night_is_whose_nights_they_are(giving: Giving, tmp_path: Path) -> None:
    owner = giving.folder(tmp_path / "whose")
    textfile.write(tmp_path, "night.prom", CollectorRegistry(), owner_of(tmp_path / "whose"))
    assert giving.owner(tmp_path / "night.prom") == owner


def test_root_writes_through_no_link_that_another_has_put_there(tmp_path: Path) -> None:
    (kept := tmp_path / "kept").write_text("of root")
    (folder := tmp_path / "metrics").mkdir()
    (folder / f".night.prom.{os.getpid()}").symlink_to(kept)
    textfile.write(folder, "night.prom", CollectorRegistry())
    assert kept.read_text() == "of root"
    assert not (folder / "night.prom").is_symlink()


def test_who_is_not_root_gives_nothing_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: STRANGER)
    assert owner_of(tmp_path) is None
    assert owner_called("main_server") is None
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert owner_of(tmp_path) == Owner(tmp_path.stat().st_uid, tmp_path.stat().st_gid)
    assert owner_called("no-such-service") is None
