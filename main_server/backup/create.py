"""Making a backup: the ledger as it is at one moment, while everything goes on.

The parts are written into a folder whose name begins with a dot; it gets its own when all is on
disk. Whatever ends the command before, there is no backup that isn't whole.
"""

import os
import secrets
import shutil
import tarfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO

from sqlalchemy import Connection, Engine

from gatepost import __version__
from gatepost.database import NIGHTLY_LOCK
from gatepost.errors import ConfigurationError, Unavailable
from main_server import migrating
from main_server.audit.repository import read_head
from main_server.backup import repository
from main_server.backup.content import (
    FILES,
    LEDGER,
    MANIFEST,
    Backup,
    Manifest,
    drop_unfinished,
    find_all,
    name_of,
    write_manifest,
)
from main_server.backup.sealed import SALT_BYTES, BackupKey, SealedWriter
from main_server.backup.settings import BackupSettings, Store
from main_server.backup.tools import ENDS, OF_A_TABLE, ToolFailed, dump
from main_server.keys.backup.form import is_of_keys, read_passphrase
from main_server.messages.partitions import LOCK as PARTITIONS_LOCK
from main_server.retention.run import LOCK as RETENTION_LOCK

Tell = Callable[[int], object]
"""Called with each number of bytes that was done with."""
BESIDE = {
    NIGHTLY_LOCK: "The nightly job, or another backup, is under way.",
    PARTITIONS_LOCK: "A main server divides partitions.",
    RETENTION_LOCK: "Retention is under way.",
}
"""Locks of the database, and who else has them."""
_TAIL_BYTES = 200


def create(engine: Engine, settings: BackupSettings, tell: Tell) -> Backup:
    store = settings.store
    passphrase = read_passphrase(store.passphrase_file)
    assert passphrase is not None
    _check_files(store.files)
    _make_private(store.folder)
    with _beside_nobody(engine, store.wait_minutes) as locks:
        drop_unfinished(store.folder)
        begun_at = datetime.now(UTC)
        draft = store.folder / f".{name_of(begun_at)}"
        try:
            draft.mkdir(0o700)
            key = BackupKey(passphrase, secrets.token_bytes(SALT_BYTES))
            _write(locks, settings, draft, key, tell)
            backup = Backup(store.folder / name_of(begun_at), begun_at)
            draft.rename(backup.folder)
        except BaseException as error:
            shutil.rmtree(draft, ignore_errors=True)
            if isinstance(error, OSError):
                raise Unavailable(f"{draft} can't be written: {error.strerror or error}") from None
            raise
        _sync(store.folder)
    _drop_old(store, begun_at)
    return backup


def _write(
    locks: Connection, settings: BackupSettings, draft: Path, key: BackupKey, tell: Tell
) -> None:
    revision = migrating.current(locks)
    if revision is None:
        raise ConfigurationError("there is no ledger here: it has no tables")
    messages, head = repository.count_messages(locks), read_head(locks)
    locks.commit()  # a transaction that has read a table would keep others from changing it
    made_at = datetime.now(UTC)
    with _part(draft, LEDGER, key) as writer:
        ledger = _write_ledger(settings, writer, tell, locks)
    with _part(draft, FILES, key) as writer:
        _write_files(settings.store.files, writer)
    lengths = {LEDGER: ledger, FILES: writer.bytes}
    manifest = Manifest(made_at, __version__, revision, messages, str(head), lengths)
    with (draft / MANIFEST).open("xb") as file:
        write_manifest(file, key, manifest)
        _sync_file(file)
    _sync(draft)


def _write_ledger(
    settings: BackupSettings, writer: SealedWriter, tell: Tell, locks: Connection
) -> int:
    """How long it is, compressed. Once the dump has its moment retention sees it by itself."""
    squeeze, tail, has_its_moment = zlib.compressobj(1), b"", False
    with closing(dump(settings.database.address())) as sql:
        for data in sql:
            if not has_its_moment and data.startswith(OF_A_TABLE):
                repository.free_lock(locks, RETENTION_LOCK)
                has_its_moment = True
            writer.write(squeeze.compress(data))
            tail = (tail + data)[-_TAIL_BYTES:]
            tell(len(data))
    if ENDS not in tail:
        raise ToolFailed("the dump of the ledger has no end")
    writer.write(squeeze.flush())
    return writer.bytes


def _write_files(files: Sequence[Path], writer: SealedWriter) -> None:
    with tarfile.open(fileobj=writer, mode="w|", format=tarfile.PAX_FORMAT) as archive:
        for top in files:
            _write_file(archive, top.absolute())
            for file in sorted(top.absolute().rglob("*")):
                with suppress(FileNotFoundError):  # main servers write theirs anew, under this name
                    _write_file(archive, file)


def _write_file(archive: tarfile.TarFile, file: Path) -> None:
    try:
        if file.is_file() and is_of_keys(file):
            words = "is the backup of the keys: in here, what was destroyed would live on"
            raise ConfigurationError(f"store.files: {file} {words}")
        archive.add(file, recursive=False)
    except FileNotFoundError:
        raise
    except OSError as error:
        if error.filename is None:  # it is the disk that we write to
            raise
        words = f"store.files: {error.filename} can't be read: {error.strerror}"
        raise ConfigurationError(words) from None


@contextmanager
def _part(draft: Path, name: str, key: BackupKey) -> Iterator[SealedWriter]:
    with (draft / name).open("xb") as file:
        writer = SealedWriter(file, key, name)
        yield writer
        writer.finish()
        _sync_file(file)


@contextmanager
def _beside_nobody(engine: Engine, wait_minutes: int) -> Iterator[Connection]:
    """On the connection, which has the locks. Beside who takes away a count would soon be wrong;
    and who divides a table that is being read has all others wait behind them."""
    with engine.connect() as connection:
        try:
            for name, words in BESIDE.items():
                if not repository.take_lock(connection, name, wait_minutes * 60):
                    raise Unavailable(words)
            yield connection
        finally:
            connection.invalidate()


def _check_files(files: Sequence[Path]) -> None:
    """Before anything is written: a backup that lacks one would be no backup."""
    if missing := [str(file) for file in files if not os.access(file, os.R_OK)]:
        raise ConfigurationError(f"store.files: {', '.join(missing)} can't be read")


def _make_private(folder: Path) -> None:
    try:
        folder.mkdir(0o700, exist_ok=True)
        folder.chmod(0o700)
    except OSError as error:
        raise ConfigurationError(f"{folder} can't be made: {error.strerror}") from None


def _drop_old(store: Store, now: datetime) -> None:
    """What is older than it should get; but so many as there are days are kept, whatever the clock
    says."""
    for old in find_all(store.folder)[: -store.keep_days]:
        if now - old.begun_at >= timedelta(days=store.keep_days):
            unlisted = old.folder.with_name(f".{old.name}")
            old.folder.rename(unlisted)  # killed in between, half of one is none
            shutil.rmtree(unlisted)


def _sync_file(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
