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
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO

from sqlalchemy import Engine

from gatepost import __version__
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
from main_server.backup.tools import ENDS, ToolFailed, dump
from main_server.keys.backup.form import read_passphrase

Tell = Callable[[int], object]
"""Called with each number of bytes that was done with."""
_TAIL_BYTES = 200


def create(engine: Engine, settings: BackupSettings, tell: Tell) -> Backup:
    store = settings.store
    passphrase = read_passphrase(store.passphrase_file)
    assert passphrase is not None
    _check_files(store.files)
    _make_private(store.folder)
    with _beside_nobody(engine, store.wait_minutes):
        drop_unfinished(store.folder)
        begun_at = datetime.now(UTC)
        draft = store.folder / f".{name_of(begun_at)}"
        try:
            draft.mkdir(0o700)
            key = BackupKey(passphrase, secrets.token_bytes(SALT_BYTES))
            _write(engine, settings, draft, key, tell)
            backup = Backup(store.folder / name_of(begun_at), begun_at)
            draft.rename(backup.folder)
        except BaseException as error:
            shutil.rmtree(draft, ignore_errors=True)
            if isinstance(error, OSError):
                raise Unavailable(f"{draft} can't be written: {error.strerror}") from None
            raise
        _sync(store.folder)
    _drop_old(store, begun_at)
    return backup


def _write(
    engine: Engine, settings: BackupSettings, draft: Path, key: BackupKey, tell: Tell
) -> None:
    with engine.connect() as connection:
        revision = migrating.current(connection)
        messages, head = repository.count_messages(connection), read_head(connection)
    if revision is None:
        raise ConfigurationError("there is no ledger here: it has no tables")
    made_at = datetime.now(UTC)
    with _part(draft, LEDGER, key) as writer:
        ledger = _write_ledger(settings, writer, tell)
    with _part(draft, FILES, key) as writer:
        _write_files(settings.store.files, writer)
    lengths = {LEDGER: ledger, FILES: writer.bytes}
    manifest = Manifest(made_at, __version__, revision, messages, str(head), lengths)
    with (draft / MANIFEST).open("xb") as file:
        write_manifest(file, key, manifest)
        _sync_file(file)
    _sync(draft)


def _write_ledger(settings: BackupSettings, writer: SealedWriter, tell: Tell) -> int:
    """How long it is, compressed."""
    squeeze, tail = zlib.compressobj(1), b""
    with closing(dump(settings.database.address())) as sql:
        for data in sql:
            writer.write(squeeze.compress(data))
            tail = (tail + data)[-_TAIL_BYTES:]
            tell(len(data))
    if ENDS not in tail:
        raise ToolFailed("the dump of the ledger has no end")
    writer.write(squeeze.flush())
    return writer.bytes


def _write_files(files: Sequence[Path], writer: SealedWriter) -> None:
    with tarfile.open(fileobj=writer, mode="w|", format=tarfile.PAX_FORMAT) as archive:
        for file in files:
            try:
                archive.add(file.absolute())
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
def _beside_nobody(engine: Engine, wait_minutes: int) -> Iterator[None]:
    """A backup's snapshot would keep the nightly job from dropping what is due."""
    with engine.connect() as connection:
        if not repository.take_lock(connection, wait_minutes * 60):
            raise Unavailable("The nightly job, or another backup, is under way.")
        try:
            yield
        finally:
            connection.invalidate()  # the lock is the connection's


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
            shutil.rmtree(old.folder)


def _sync_file(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
