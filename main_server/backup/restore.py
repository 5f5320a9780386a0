"""Bring a ledger back from a backup, onto an empty machine; and try that, which is a drill.

Nothing that a restored ledger has forgotten since may come back to life: sessions, links and open
enrolment tokens end with it, and redrives stop. What was revoked since comes back by the newest
published list (`main_server.ca.recovery`), what is still in Redis by the reconciler. Destroyed keys
are in no backup of the ledger; the keys' own one knows them as destroyed.
"""

import grp
import io
import os
import pwd
import shutil
import tarfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection, Engine

from gatepost.errors import ConfigurationError, Unavailable
from main_server.audit.chain import SYSTEM, Entry, parse_head
from main_server.audit.repository import append
from main_server.audit.verify import verify as verify_chain
from main_server.backup import repository
from main_server.backup.content import FILES, Opened
from main_server.backup.room import demand_for_files, demand_for_ledger
from main_server.backup.settings import Scratch, Written
from main_server.backup.tools import load
from main_server.backup.verify import read_ledger
from main_server.store import schema as migrating
from main_server.store.database import open_ledger, transact

Tell = Callable[[int], object]
NOT_EMPTY = (
    "the ledger is not empty: a restore goes onto an empty machine. If one was broken off here,"
    " drop the schema, make it again, and begin anew"
)


class NotEmpty(ConfigurationError):
    """A restore never goes over what is there."""


class NotWhole(ConfigurationError):
    """The ledger that came out isn't the one that went in."""


@dataclass(frozen=True, slots=True)
class Restored:
    messages: int
    audit_entries: int
    seconds: float


def restore(engine: Engine, settings: Written, backup: Opened, tell: Tell) -> Restored:
    """Restore a backup into a schema that has no tables yet, or none with anything in them."""
    started = time.monotonic()
    revision = backup.manifest.revision
    check_target(engine, settings, backup)
    with engine.connect() as connection:
        keys_are_there = repository.has_key_tables(connection, settings.keys_schema)
    if not keys_are_there:
        migrating.upgrade(engine, settings.keys_schema, revision)
    load(settings.address(), read_ledger(backup, tell))
    migrating.upgrade(engine, settings.keys_schema)
    checked = _check(engine, backup, started)
    transact(engine, lambda connection: _settle_down(connection, backup))
    return checked


def check_target(engine: Engine, settings: Written, backup: Opened) -> None:
    """Check that the backup can be restored there, before anything is written, here or elsewhere;
    raise if it can't."""
    if not migrating.is_known(revision := backup.manifest.revision):
        raise ConfigurationError(f"{backup.backup.name} is of a later release ({revision})")
    with engine.connect() as connection:
        if not repository.is_empty(connection):
            raise NotEmpty(NOT_EMPTY)
        demand_for_ledger(connection, settings.address(), backup.manifest)


def drill(settings: Scratch, backup: Opened, tell: Tell) -> Restored:
    """Restore into a schema that is made for it and dropped. Run no migrations: some change the
    keys' tables."""
    started = time.monotonic()
    name = settings.address().database
    assert name is not None
    with open_ledger(settings.without_schema(), patient=True) as outside, outside.connect() as own:
        if not repository.take_lock(own, f"gatepost.{name}", 0):
            raise Unavailable("Another drill is under way.")
        try:
            repository.drop_schema(outside, name)
            demand_for_ledger(own, settings.address(), backup.manifest)
            repository.make_schema(outside, name)
            load(settings.address(), read_ledger(backup, tell))
            with open_ledger(settings, patient=True) as engine:
                return _check(engine, backup, started)
        finally:
            repository.drop_schema(outside, name)
            own.invalidate()  # the lock is the connection's


def _check(engine: Engine, backup: Opened, started: float) -> Restored:
    manifest = backup.manifest
    with engine.connect() as connection:
        messages = repository.count_messages(connection)
    if messages < manifest.messages:
        raise NotWhole(f"{messages} messages came back of {manifest.messages}")
    verdict = verify_chain(engine, parse_head(manifest.audit_head))
    if verdict.fault:
        raise NotWhole(f"the audit log does not hang together: {verdict.fault}")
    return Restored(messages, verdict.entries, time.monotonic() - started)


def _settle_down(connection: Connection, backup: Opened) -> None:
    now = datetime.now(UTC).replace(tzinfo=None)
    repository.forget_what_is_open(connection, now)
    details = {"made_at": backup.manifest.made_at.isoformat()}
    append(connection, Entry(SYSTEM, "ledger.restored", backup.backup.name, None, details), now)


def extract_files(backup: Opened, folder: Path) -> list[str]:
    """Extract the CA and the configuration into a new, private folder. If root runs it, the files
    get the owners, by name, and the modes that they had; else they are ours alone."""
    demand_for_files(folder, backup.manifest)
    try:
        folder.mkdir(0o700)
    except OSError as error:
        raise ConfigurationError(f"{folder} can't be made: {error.strerror}") from None
    stream = io.BufferedReader(_Pieces(backup.read(FILES)))
    with tarfile.open(fileobj=stream, mode="r|") as archive:
        names = []
        for member in archive:
            _put(archive, member, folder)
            if os.geteuid() == 0:
                _give(member, folder / member.name)
            names.append(member.name)
        return names


def _give(member: tarfile.TarInfo, place: Path) -> None:
    """Give a file its owner by name, as users have other numbers here; what belongs to a user who
    isn't known here stays root's."""
    with suppress(KeyError):
        owner, group = pwd.getpwnam(member.uname).pw_uid, grp.getgrnam(member.gname).gr_gid
        os.chown(place, owner, group, follow_symlinks=False)
        if not member.issym():
            place.chmod(member.mode & 0o777)


def _put(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    """Write an archive's member. Whatever its name says, nothing outside of the folder is written,
    and nothing over what is there. Done by hand, since tarfile has its filters from Python 3.11.4
    on only."""
    place = folder / member.name
    if ".." in place.parts or not place.is_relative_to(folder):
        raise ConfigurationError(f"{member.name} leads out of the folder")
    place.parent.mkdir(0o700, parents=True, exist_ok=True)
    if not place.parent.resolve().is_relative_to(folder.resolve()):
        raise ConfigurationError(f"{member.name} is behind a link that leads out of the folder")
    if member.isdir():
        place.mkdir(0o700, exist_ok=True)
    elif member.issym():
        place.symlink_to(member.linkname)
    elif member.islnk():
        place.hardlink_to(folder / member.linkname)
    elif (content := archive.extractfile(member)) is not None:
        descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            shutil.copyfileobj(content, file)


class _Pieces(io.RawIOBase):
    """An iterator as a file."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._left = pieces, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        while not self._left:
            following = next(self._pieces, None)
            if following is None:
                return 0
            self._left = following
        count = min(len(buffer), len(self._left))
        buffer[:count] = self._left[:count]
        self._left = self._left[count:]
        return count
