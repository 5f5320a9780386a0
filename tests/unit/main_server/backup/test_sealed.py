"""A sealed stream is opened as it was written, or not at all."""

import io
import itertools

import pytest

from main_server.backup.sealed import (
    PIECE,
    BackupKey,
    Damaged,
    SealedWriter,
    open_sealed,
    read_salt,
)

SEALED_PIECE = PIECE + 16
SALT = bytes(range(16))


@pytest.fixture(scope="module")
def key() -> BackupKey:
    return BackupKey(b"a long enough passphrase", SALT)


def sealed(key: BackupKey, data: bytes, part: str = "ledger", step: int = 700_001) -> bytes:
    file = io.BytesIO()
    writer = SealedWriter(file, key, part)
    for at in range(0, len(data), step):
        writer.write(data[at : at + step])
    writer.finish()
    assert writer.bytes == len(data)
    return file.getvalue()


def opened(key: BackupKey, data: bytes, part: str = "ledger") -> bytes:
    file = io.BytesIO(data)
    file.name = part
    return b"".join(open_sealed(file, key, part))


@pytest.mark.parametrize("length", [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, 3 * PIECE + 7])
def test_it_is_opened_as_it_was_written(key: BackupKey, length: int) -> None:
    data = bytes(itertools.islice(itertools.cycle(b"gatepost"), length))
    assert opened(key, sealed(key, data)) == data


def test_no_piece_can_be_left_out_repeated_moved_or_cut_off(key: BackupKey) -> None:
    whole = sealed(key, b"x" * (3 * PIECE))
    line, body = whole[: whole.index(b"\n") + 1], whole[whole.index(b"\n") + 1 :]
    one, two, three = (body[at : at + SEALED_PIECE] for at in range(0, len(body), SEALED_PIECE))
    for other in (
        one + three,
        two + three,
        one + one + two + three,
        two + one + three,
        one + two,
        one,
        b"",
        one + two + three + three,
    ):
        with pytest.raises(Damaged):
            opened(key, line + other)


def test_a_part_is_no_other_part_and_of_no_other_backup(key: BackupKey) -> None:
    whole = sealed(key, b"the CA", "files")
    with pytest.raises(Damaged, match="another backup, or another part"):
        opened(key, whole, "ledger")
    with pytest.raises(Damaged):
        opened(key, whole.replace(b" files", b" ledger"), "ledger")
    other = BackupKey(b"another passphrase", SALT)
    with pytest.raises(Damaged, match="the passphrase is another"):
        opened(other, whole, "files")


def test_what_is_no_backup_at_all_is_said(key: BackupKey) -> None:
    for data in (
        b"",
        b"-- MariaDB dump",
        b"gatepost-backup-1 zz ledger\n",
        b"gatepost-backup-1 00\n",
    ):
        file = io.BytesIO(data)
        file.name = "ledger"
        with pytest.raises(Damaged, match="no part of a backup"):
            read_salt(file)
