"""The content of a backup: a folder, named by when it was begun, with three sealed parts.

    20261118T031500Z/
        ledger      the ledger, as SQL, compressed
        files       the CA and the configuration, as a tar archive
        manifest    what was in the ledger at least, and how long the other two are

Until it is whole its name begins with a dot. The wrapped data keys are in a schema of their own, so
they are in none: they have a backup of one generation (`gatepost keys backup`).
"""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

import msgspec

from gatepost.decoding import decode_json
from gatepost.errors import NotFound
from main_server.backup.sealed import BackupKey, Damaged, SealedWriter, open_sealed, read_salt

LEDGER, FILES, MANIFEST = "ledger", "files", "manifest"
_NAME = "%Y%m%dT%H%M%SZ"


class Manifest(msgspec.Struct, frozen=True):
    """A backup's manifest. `messages` and `audit_head` were in the ledger just before: a restored
    ledger has them."""

    made_at: datetime
    release: str
    revision: str
    messages: int
    audit_head: str
    lengths: dict[str, int]
    """The bytes of each other part before it was sealed."""
    table_bytes: int | None = None
    """The bytes that the ledger's tables took on the database's disk. Former releases don't say."""


@dataclass(frozen=True, slots=True)
class Backup:
    folder: Path
    begun_at: datetime

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def bytes(self) -> int:
        return sum(file.stat().st_size for file in self.folder.iterdir())


class Opened:
    """A backup, and what opens it."""

    def __init__(self, backup: Backup, passphrase: bytes) -> None:
        self.backup = backup
        with self._file(MANIFEST) as file:
            self._key = BackupKey(passphrase, read_salt(file))
        try:
            data = b"".join(self._pieces(MANIFEST))
            self.manifest = decode_json(data, Manifest)
        except msgspec.MsgspecError:
            raise Damaged(f"{backup.name} was made by another release") from None

    def read(self, part: str) -> Iterator[bytes]:
        """Yield a whole part; raise Damaged, at the latest at its end, if it isn't what was
        written."""
        read = 0
        for piece in self._pieces(part):
            read += len(piece)
            yield piece
        if read != self.manifest.lengths.get(part):
            raise Damaged(f"{self.backup.name}: {part} has another length than was written")

    def _pieces(self, part: str) -> Iterator[bytes]:
        with self._file(part) as file:
            yield from open_sealed(file, self._key, part)

    def _file(self, part: str) -> BinaryIO:
        try:
            return (self.backup.folder / part).open("rb")
        except OSError as error:
            raise Damaged(f"{self.backup.folder / part}: {error.strerror}") from None


def name_of(begun_at: datetime) -> str:
    return begun_at.strftime(_NAME)


def find_all(folder: Path) -> list[Backup]:
    """Return the backups that are whole, the oldest first."""
    found = [(one, _begun(one.name)) for one in folder.iterdir() if one.is_dir()]
    return sorted((Backup(one, at) for one, at in found if at), key=lambda one: one.begun_at)


def find(folder: Path, name: str | None) -> Backup:
    """Return the backup of this name; without a name, the newest."""
    found = [one for one in find_all(folder) if name in (None, one.name)]
    if not found:
        missing = f"backup {name}" if name else "backup"
        raise NotFound(f"There is no {missing} in {folder}.")
    return found[-1]


def drop_unfinished(folder: Path) -> None:
    """Delete what a killed command has left of a backup."""
    for one in folder.glob(".*"):
        if one.is_dir() and _begun(one.name[1:]):
            shutil.rmtree(one)


def write_manifest(file: BinaryIO, key: BackupKey, manifest: Manifest) -> None:
    writer = SealedWriter(file, key, MANIFEST)
    writer.write(msgspec.json.encode(manifest))
    writer.finish()


def _begun(name: str) -> datetime | None:
    try:
        return datetime.strptime(name, _NAME).replace(tzinfo=UTC)
    except ValueError:
        return None
