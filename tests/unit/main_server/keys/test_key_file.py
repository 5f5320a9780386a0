"""The master key file: its owner's alone, random, and replaced whole."""

import os
import secrets
from hashlib import sha256
from pathlib import Path

import pytest

from gatepost.errors import ConfigurationError
from gatepost.whole_file import replace_file
from main_server.key_file import key_file_faults, read_keys, write_keys
from main_server.keys.master import MasterKey, read_master_keys

KEY, OTHER = (sha256(name).digest() for name in (b"one", b"another"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    tmp_path.chmod(0o700)
    return put(tmp_path / "aes.key", KEY)


def put(file: Path, data: bytes, mode: int = 0o400) -> Path:
    file.write_bytes(data)
    file.chmod(mode)
    return file


def test_the_first_key_is_the_newest(file: Path) -> None:
    put(file.with_name("two"), KEY + OTHER)
    assert [one.kid for one in read_master_keys(file.with_name("two"))] == [
        MasterKey(KEY).kid,
        MasterKey(OTHER).kid,
    ]


@pytest.mark.parametrize("mode", [0o400, 0o600])
def test_its_owner_may_read_it(file: Path, mode: int) -> None:
    file.chmod(mode)
    assert read_keys(file) == [KEY]


@pytest.mark.parametrize("mode", [0o440, 0o404, 0o420, 0o402, 0o644, 0o777, 0o401, 0o410])
def test_a_file_that_others_can_use_is_refused(file: Path, mode: int) -> None:
    file.chmod(mode)
    with pytest.raises(ConfigurationError, match="chmod 400"):
        read_keys(file)


@pytest.mark.parametrize("size", [0, 1, 31, 33, 63, 65])
def test_a_key_of_another_length_is_refused(file: Path, size: int) -> None:
    other = put(file.with_name("other"), secrets.token_bytes(size))
    with pytest.raises(ConfigurationError, match="32 bytes"):
        read_keys(other)


def test_a_missing_one_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="No such file"):
        read_keys(tmp_path / "none")


def test_no_message_shows_the_key(file: Path) -> None:
    wrong = put(file.with_name("text"), b"correct horse battery staple", 0o400)
    with pytest.raises(ConfigurationError) as caught:
        read_keys(wrong)
    assert "correct" not in str(caught.value)


def test_the_file_of_another_user_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid() == 0:
        os.chown(file, 12345, 12345)
        assert read_keys(file) == [KEY], "root may read everybody's"
    monkeypatch.setattr(os, "geteuid", lambda: 54321)
    with pytest.raises(ConfigurationError, match="another user"):
        read_keys(file)


def test_a_systemd_credential_may_be_readable_by_its_group(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """systemd grants it by an ACL, whose mask shows as the group's right."""
    file.chmod(0o440)
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(file.parent))
    assert read_keys(file) == [KEY]
    file.parent.chmod(0o755)
    assert key_file_faults(file) == []
    with pytest.raises(ConfigurationError, match="credential"):
        write_keys(file, [OTHER])
    file.chmod(0o444)
    with pytest.raises(ConfigurationError):
        read_keys(file)


def test_a_random_key_in_a_private_folder_has_no_faults(file: Path) -> None:
    assert key_file_faults(file) == []
    file.parent.chmod(0o750)
    assert key_file_faults(file) == []


@pytest.mark.parametrize(
    "sample",
    [
        bytes(32),
        b"\xff" * 32,
        bytes(range(32)),
        bytes(range(31, -1, -1)),
        b"0123456789abcdef0123456789abcdef",
        b"changemechangemechangemechangeme",
        b"this is 32 bytes of a passphrase",
        KEY[:16].hex().encode(),
        KEY[:8] * 4,
        KEY + bytes(32),
    ],
)
def test_a_key_that_was_not_drawn_is_a_fault(file: Path, sample: bytes) -> None:
    faults = key_file_faults(put(file.with_name("sample"), sample))
    assert len(faults) == 1
    assert "sample" in faults[0]


def test_random_keys_are_never_taken_for_samples(file: Path) -> None:
    for _ in range(500):
        other = put(file.with_name("other"), secrets.token_bytes(32), 0o600)
        assert key_file_faults(other) == []


@pytest.mark.parametrize("mode", [0o755, 0o704, 0o702, 0o720, 0o777])
def test_a_folder_that_others_get_into_is_a_fault(file: Path, mode: int) -> None:
    file.parent.chmod(mode)
    assert [fault for fault in key_file_faults(file) if "chmod 700" in fault]


def test_what_cannot_be_read_is_a_fault_of_its_own(tmp_path: Path) -> None:
    assert "No such file" in key_file_faults(tmp_path / "none")[0]


def test_it_is_replaced_whole_with_owner_and_mode_of_before(file: Path) -> None:
    inode = file.stat().st_ino
    if os.geteuid() == 0:
        os.chown(file, 12345, 54321)
    before = file.stat()
    write_keys(file, [OTHER, KEY])
    after = file.stat()
    assert read_keys(file) == [OTHER, KEY]
    assert after.st_ino != inode
    assert (after.st_uid, after.st_gid, after.st_mode) == (
        before.st_uid,
        before.st_gid,
        before.st_mode,
    )
    assert list(file.parent.iterdir()) == [file]


def test_a_crash_while_writing_leaves_the_old_one(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", crash)
    with pytest.raises(KeyboardInterrupt):
        write_keys(file, [OTHER])
    assert read_keys(file) == [KEY]
    monkeypatch.undo()
    write_keys(file, [OTHER])
    assert list(file.parent.iterdir()) == [file], "and nothing lies about after the next"


def test_it_is_on_disk_before_it_takes_the_old_ones_place(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    real_sync, real_replace = os.fsync, Path.replace

    def sync(descriptor: int) -> None:
        done.append("sync")
        real_sync(descriptor)

    def swap(self: Path, target: Path) -> Path:
        done.append("replace")
        return real_replace(self, target)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(Path, "replace", swap)
    write_keys(file, [OTHER])
    assert done == ["sync", "replace", "sync"]


def test_a_folder_that_cannot_be_written_is_told(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(ConfigurationError, match="Permission denied"):
        replace_file(file, b"x")


def test_a_new_file_is_private_from_its_first_byte(tmp_path: Path) -> None:
    old_mask = os.umask(0)
    try:
        replace_file(tmp_path / "new", b"x")
    finally:
        os.umask(old_mask)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o600
