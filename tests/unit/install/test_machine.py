"""Where root writes in a folder of a service's, nothing that the service has put there leads it
elsewhere."""

import os
import stat
from contextlib import nullcontext
from pathlib import Path

import pytest

from gatepost.install.machine import Machine
from gatepost.install.steps import Failure
from tests.giving import STRANGER
from tests.unit.install.pretended import Pretended

USER = "root"
"""Everybody is us, here."""


@pytest.fixture
def machine(tmp_path: Path) -> Pretended:
    return Pretended(tmp_path / "root")


@pytest.fixture
def service(machine: Pretended) -> Path:
    """A service's folder, which isn't root's."""
    folder = machine.path("/var/lib/gatepost/proxy")
    folder.mkdir(parents=True)
    _is_strangers(folder)
    return folder


def _is_strangers(place: Path) -> None:
    if os.geteuid() == 0:
        os.chown(place, STRANGER, STRANGER, follow_symlinks=False)


def test_a_file_is_whole_with_its_mode(machine: Pretended, service: Path) -> None:
    (service / "tls").mkdir()
    machine.write(file := service / "tls" / "ca.pem", b"pins", 0o640, USER)
    assert file.read_bytes() == b"pins"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert [one.name for one in file.parent.iterdir()] == ["ca.pem"]


def test_a_link_of_the_services_is_not_followed(
    machine: Pretended, service: Path, tmp_path: Path
) -> None:
    (elsewhere := tmp_path / "elsewhere").mkdir()
    (elsewhere / "ca.pem").write_text("of root")
    (service / "tls").symlink_to(elsewhere)
    with pytest.raises(Failure, match="tls is a link in a folder that isn't root's"):
        machine.write(service / "tls" / "ca.pem", b"pins", 0o644, USER)
    assert (elsewhere / "ca.pem").read_text() == "of root"
    assert [*elsewhere.iterdir()] == [elsewhere / "ca.pem"]


def test_a_link_in_the_place_of_the_file_is_replaced_and_not_followed(
    machine: Pretended, service: Path, tmp_path: Path
) -> None:
    (kept := tmp_path / "kept").write_text("of root")
    kept.chmod(0o600)
    (service / "ca.pem").symlink_to(kept)
    machine.write(service / "ca.pem", b"pins", 0o644, USER)
    assert (kept.read_text(), stat.S_IMODE(kept.stat().st_mode)) == ("of root", 0o600)
    assert not (service / "ca.pem").is_symlink()


def test_a_link_of_roots_is_followed() -> None:
    """As to another disk. /proc is root's, and so is a link in it."""
    knows_root = Path("/proc").stat().st_uid == 0  # in a user namespace it may be nobody's
    with (
        nullcontext() if knows_root else pytest.raises(Failure),
        Machine(Path("/")).opened(Path("/proc/self/net")) as folder,
    ):
        assert os.stat("unix", dir_fd=folder)


@pytest.mark.parametrize("kind", ["link", "link above", "pipe", "another's"])
def test_what_a_service_has_not_made_is_not_read_for_it(
    machine: Pretended,
    service: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
) -> None:
    (secret := tmp_path / "secret").write_text("of root")
    made = service / "issued" / "main-1.key"
    made.parent.mkdir()
    if kind == "link":
        made.symlink_to(secret)
    elif kind == "link above":
        made.parent.rmdir()
        (tmp_path / "main-1.key").write_text("of root")
        made.parent.symlink_to(tmp_path)
    elif kind == "pipe":
        os.mkfifo(made)
    else:
        made.write_text("of another")
        monkeypatch.setattr(machine, "ids", lambda _kind: {USER: made.stat().st_uid + 1})
    with pytest.raises((Failure, OSError)):
        machine.read_of(made, USER)


def test_what_it_has_made_is_read(machine: Pretended, service: Path) -> None:
    (service / "main-1.pem").write_text("a certificate")
    assert machine.read_of(service / "main-1.pem", USER) == b"a certificate"
