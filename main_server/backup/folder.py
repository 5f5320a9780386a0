"""The folder of backups: new ones are made in it, and those that are past their days go.

Whoever makes a backup, it belongs to the folder's owner: that is the service's user, who takes it
away one night. Root doesn't follow that user's paths, but opens what it writes from the folder on.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import BinaryIO

from gatepost.errors import ConfigurationError, Unavailable
from gatepost.owners import Owner, give, owner_called, owner_of
from main_server.backup.content import Backup, drop_unfinished, find_all, name_of
from main_server.backup.settings import Store

_SERVICE = "main_server"
"""The user as whom the unit makes backups."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


@dataclass(frozen=True)
class Draft:
    """A backup that is being made."""

    folder: Path
    descriptor: int
    owner: Owner | None

    @contextmanager
    def file(self, name: str) -> Iterator[BinaryIO]:
        """Yield a new file of the draft; it is on disk when this ends."""
        new = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        descriptor = os.open(name, new, 0o600, dir_fd=self.descriptor)
        with os.fdopen(descriptor, "wb") as file:
            give(descriptor, self.owner)
            yield file
            file.flush()
            os.fsync(descriptor)


def make_private(folder: Path) -> None:
    try:
        if not folder.is_dir():
            folder.mkdir(0o700)
            if owner := owner_called(_SERVICE):
                os.chown(folder, *owner, follow_symlinks=False)
        folder.chmod(0o700)
    except OSError as error:
        raise ConfigurationError(f"{folder} can't be made: {error.strerror}") from None


@contextmanager
def drafted(folder: Path, begun_at: datetime) -> Iterator[Draft]:
    """Yield a draft that gets its name when all is on disk; whatever ends this before, nothing of
    it stays."""
    name = name_of(begun_at)
    draft = folder / f".{name}"
    try:
        with _opened(folder) as outside:
            os.mkdir(draft.name, 0o700, dir_fd=outside)
            with _opened(draft.name, outside) as inside:
                owner = owner_of(folder)
                give(inside, owner)
                yield Draft(draft, inside, owner)
                os.fsync(inside)
            os.rename(draft.name, name, src_dir_fd=outside, dst_dir_fd=outside)
            os.fsync(outside)
    except BaseException as error:
        shutil.rmtree(draft, ignore_errors=True)
        if isinstance(error, OSError):
            raise Unavailable(f"{draft} can't be written: {error.strerror or error}") from None
        raise


def tidy_up(folder: Path) -> None:
    """Delete what a killed command has left."""
    with _taking_away(folder):
        drop_unfinished(folder)


def drop_old(store: Store, now: datetime) -> None:
    """Delete backups that are older than they should get; but as many as there are days are kept,
    whatever the clock says."""
    with _taking_away(store.folder):
        for old in find_all(store.folder)[: -store.keep_days]:
            if now - old.begun_at >= timedelta(days=store.keep_days):
                _drop(old)


def _drop(old: Backup) -> None:
    unlisted = old.folder.with_name(f".{old.name}")
    old.folder.rename(unlisted)  # killed in between, half of one is none
    shutil.rmtree(unlisted)


@contextmanager
def _taking_away(folder: Path) -> Iterator[None]:
    try:
        yield
    except PermissionError as error:
        words = f"{error.filename} can't be taken away: {error.strerror}; was it made by another?"
        raise ConfigurationError(f"{words} chown -R --reference={folder} {folder}") from None


@contextmanager
def _opened(place: Path | str, within: int | None = None) -> Iterator[int]:
    descriptor = os.open(place, _FOLDER if within is not None else os.O_RDONLY, dir_fd=within)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
