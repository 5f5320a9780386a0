"""The settings of backups."""

import re
from pathlib import Path
from typing import Annotated

from pydantic import Field, SecretStr, model_validator

from gatepost.config.settings import Block, ServiceSettings
from gatepost.errors import ConfigurationError
from gatepost.safety import private_file_faults
from main_server.backup.content import Opened, find_all
from main_server.keys.backup.form import read_passphrase
from main_server.settings import Database

SCRATCH = "_drill"
_SCRATCH = re.compile(rf"[a-z0-9_]{{1,58}}{SCRATCH}")


class Read(Database):
    """The ledger itself, as a user who can only read. A replica's locks would keep nobody off."""

    user: str = "gatepost_backup"
    """Who we are there; their rights are those of `gatepost db grant backup`."""


class Written(Database):
    """Where a restore goes, as a user who may make tables."""

    user: str = "gatepost_migrate"
    """Who we are there."""

    def faults(self) -> list[str]:
        """Return no fault for a missing password: the nightly unit isn't handed one, since it
        restores nothing."""
        return super().faults() if self.address().password else []


class Scratch(Database):
    """Where a drill tries a backup, as a user who may make this schema and drop it."""

    name: str = f"gatepost{SCRATCH}"
    """The schema, which a drill drops: its name ends so."""
    user: str = "gatepost_drill"
    """Who we are there."""

    def without_schema(self) -> "Scratch":
        url = self.address().set(database="").render_as_string(hide_password=False)
        return self.model_copy(update={"url": SecretStr(url)})


class Store(Block):
    """Where backups are, what is in them beside the ledger, and for how long they are kept."""

    folder: Path
    """Each backup is a folder in it."""
    passphrase_file: Path
    """What is in it seals them; keep a copy of it where the backups are not."""
    files: list[Path] = Field(default_factory=list)
    """Files and folders that go in: the CA's folder, the configuration. Not the backup of keys."""
    keep_days: Annotated[int, Field(ge=1, le=3660)] = 7
    """What is older goes, but never below so many backups as these are days."""
    wait_minutes: Annotated[int, Field(ge=0, le=1440)] = 60
    """So long the nightly job is waited for, beside which none is made."""

    def faults(self) -> list[str]:
        return private_file_faults(self.passphrase_file)

    def try_passphrase(self) -> None:
        """Check the passphrase; raise ConfigurationError if it can't be read, or doesn't open the
        newest backup."""
        passphrase = read_passphrase(self.passphrase_file)
        assert passphrase is not None
        if self.folder.is_dir() and (made := find_all(self.folder)):
            Opened(made[-1], passphrase)


class BackupSettings(ServiceSettings):
    database: Read = Read()
    store: Store
    restore: Written | None = None
    drill: Scratch | None = None
    metrics_folder: Path | None = None
    """Of the node exporter's textfile collector."""

    def try_files(self) -> None:
        try:
            self.store.try_passphrase()
        except PermissionError as error:
            raise ConfigurationError(f"{error.filename} can't be read: {error.strerror}") from error

    @model_validator(mode="after")
    def _apart(self) -> "BackupSettings":
        """Refuse a drill in a schema that is in use: a drill drops its schema, whatever is in
        it."""
        if self.drill is None:
            return self
        names = {part.address().database for part in (self.database, self.restore) if part}
        name = self.drill.address().database or ""
        if name in names or not _SCRATCH.fullmatch(name):
            words = "drill: it drops its schema, so give it one of its own, whose name ends in"
            raise ValueError(f"{words} {SCRATCH}")
        return self
