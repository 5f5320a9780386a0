"""Make a backup: the ledger as it is at one moment, while everything goes on.

The parts are written into a draft, which becomes a backup when all is on disk. Whatever ends the
command before, there is no backup that isn't whole.
"""

import os
import secrets
import tarfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection, Engine

from gatepost import __version__
from gatepost.config.database import NIGHTLY_LOCK
from gatepost.errors import ConfigurationError, Unavailable
from main_server.audit.repository import read_head
from main_server.backup import repository
from main_server.backup.content import (
    FILES,
    LEDGER,
    MANIFEST,
    Backup,
    Manifest,
    name_of,
    write_manifest,
)
from main_server.backup.folder import Draft, drafted, drop_old, make_private, tidy_up
from main_server.backup.room import demand_for_backup
from main_server.backup.sealed import SALT_BYTES, BackupKey, SealedWriter
from main_server.backup.settings import BackupSettings
from main_server.backup.tools import ENDS, OF_A_TABLE, ToolFailed, dump
from main_server.keys.backup.form import is_of_keys, read_passphrase
from main_server.messages.partitions import LOCK as PARTITIONS_LOCK
from main_server.retention.run import LOCK as RETENTION_LOCK
from main_server.store import schema as migrating

Tell = Callable[[int], object]
"""A function that is called with each number of bytes that was done with."""
BESIDE = {
    NIGHTLY_LOCK: "The nightly job, or another backup, is under way.",
    PARTITIONS_LOCK: "A main server divides partitions.",
    RETENTION_LOCK: "Retention is under way.",
}
"""Locks of the database, and who else takes them."""
_TAIL_BYTES = 200


def create(engine: Engine, settings: BackupSettings, tell: Tell) -> Backup:
    store = settings.store
    passphrase = read_passphrase(store.passphrase_file)
    assert passphrase is not None
    _check_files(store.files)
    make_private(store.folder)
    with _beside_nobody(engine, store.wait_minutes) as locks:
        _refuse_a_replica(locks)
        tidy_up(store.folder)
        demand_for_backup(locks, store.folder)
        begun_at = datetime.now(UTC)
        with drafted(store.folder, begun_at) as draft:
            key = BackupKey(passphrase, secrets.token_bytes(SALT_BYTES))
            _write(locks, settings, draft, key, tell)
    drop_old(store, begun_at)
    return Backup(store.folder / name_of(begun_at), begun_at)


def _write(
    locks: Connection, settings: BackupSettings, draft: Draft, key: BackupKey, tell: Tell
) -> None:
    revision = migrating.current(locks)
    if revision is None:
        raise ConfigurationError("there is no ledger here: it has no tables")
    messages, head = repository.count_messages(locks), read_head(locks)
    table_bytes = repository.count_bytes(locks)
    locks.commit()  # a transaction that has read a table would keep others from changing it
    made_at = datetime.now(UTC)
    with _part(draft, LEDGER, key) as writer:
        ledger = _write_ledger(settings, writer, tell, locks)
    with _part(draft, FILES, key) as writer:
        _write_files(settings.store.files, writer)
    lengths = {LEDGER: ledger, FILES: writer.bytes}
    manifest = Manifest(made_at, __version__, revision, messages, str(head), lengths, table_bytes)
    with draft.file(MANIFEST) as file:
        write_manifest(file, key, manifest)


def _write_ledger(
    settings: BackupSettings, writer: SealedWriter, tell: Tell, locks: Connection
) -> int:
    """Write the ledger; return how long it is, compressed. The lock against retention is freed once
    the dump has its moment: from then on retention sees it by itself."""
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
def _part(draft: Draft, name: str, key: BackupKey) -> Iterator[SealedWriter]:
    with draft.file(name) as file:
        writer = SealedWriter(file, key, name)
        yield writer
        writer.finish()


@contextmanager
def _beside_nobody(engine: Engine, wait_minutes: int) -> Iterator[Connection]:
    """Yield the connection that has the locks. If somebody took messages away meanwhile, a count
    would soon be wrong; if somebody divided a table that is being read, all others would wait
    behind them."""
    with engine.connect() as connection:
        try:
            for name, words in BESIDE.items():
                if not repository.take_lock(connection, name, wait_minutes * 60):
                    raise Unavailable(words)
            yield connection
        finally:
            connection.invalidate()


def _refuse_a_replica(locks: Connection) -> None:
    """Refuse to back up a replica. Its locks are its own: whoever takes away or divides on the
    ledger knows nothing of ours."""
    if repository.takes_no_changes(locks):
        words = "this server takes no changes, as a replica does: a backup is of the ledger itself"
        raise ConfigurationError(f"database: {words}")


def _check_files(files: Sequence[Path]) -> None:
    """Check that the files can be read before anything is written: a backup that lacks one would be
    no backup."""
    if missing := [str(file) for file in files if not os.access(file, os.R_OK)]:
        raise ConfigurationError(f"store.files: {', '.join(missing)} can't be read")
