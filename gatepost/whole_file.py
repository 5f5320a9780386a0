"""Writes files whole: a reader, or a power cut, meets the old file or the new one. A file can also
be created so that it never takes the place of another."""

import os
import stat
from pathlib import Path

from gatepost.errors import ConfigurationError
from gatepost.owners import give, owner_of

_MODE = 0o600


def replace_file(file: Path, data: bytes, mode: int | None = None) -> None:
    """Replace a file, or make it; it is on disk when this returns.

    Without a mode it has that of the file that was there. Root gives it to the owner of that file,
    and a new one to the owner of the folder; anybody else's is their own.
    """
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        before = file.stat() if file.exists() else None
        draft.unlink(missing_ok=True)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o400)
        with os.fdopen(descriptor, "wb") as stream:
            give(descriptor, owner_of(file if before else file.parent))
            os.fchmod(descriptor, mode or (stat.S_IMODE(before.st_mode) if before else _MODE))
            stream.write(data)
            stream.flush()
            os.fsync(descriptor)
        draft.replace(file)
        _sync(file.parent)
    except OSError as error:
        raise ConfigurationError(f"{file} can't be written: {error.strerror}") from None


def create_file(file: Path, data: bytes) -> None:
    """Create a file, never over another: a link, unlike a rename, doesn't take its place."""
    draft = file.with_name(f".{file.name}.{os.getpid()}.new")
    replace_file(draft, data)
    try:
        os.link(draft, file)
        _sync(file.parent)
    except FileExistsError:
        raise ConfigurationError(f"{file} is there already") from None
    except OSError as error:
        raise ConfigurationError(f"{file} can't be written: {error.strerror}") from None
    finally:
        draft.unlink(missing_ok=True)


def _sync(folder: Path) -> None:
    """Sync a folder: before that, a power cut may bring back what a rename has replaced."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
