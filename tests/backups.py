"""Backups as small as they can be: the sealed manifest alone, which opens by their passphrase."""

from datetime import UTC, datetime
from pathlib import Path

import msgspec

from main_server.backup.content import MANIFEST, Manifest, name_of
from main_server.backup.sealed import SALT_BYTES, BackupKey, SealedWriter


def put_backup(folder: Path, passphrase: str, begun_at: datetime) -> Path:
    made = folder / name_of(begun_at)
    made.mkdir(parents=True)
    with (made / MANIFEST).open("wb") as file:
        writer = SealedWriter(file, BackupKey(passphrase.encode(), bytes(SALT_BYTES)), MANIFEST)
        writer.write(msgspec.json.encode(Manifest(datetime.now(UTC), "0", "0", 0, "", {})))
        writer.finish()
    return made
