"""The one backup of the keys that is kept: written anew after each change, soon after a new key,
and never over keys that the ledger has lost.

A restored ledger has no keys until `gatepost keys restore` has run. Whoever wrote the backup anew
before then would end all that it opens.
"""

from pathlib import Path

from sqlalchemy import Engine

from gatepost.errors import ConfigurationError, KeysUnavailable
from main_server.keys.backup.content import Content, read_backup, sealing_of, write_backup
from main_server.keys.backup.form import Sealing
from main_server.keys.backup.restore import count_lost
from main_server.keys.master import MasterKeys
from main_server.settings import Keys
from main_server.store.database import transact


class WouldLose(ConfigurationError):
    """A backup of keys that the ledger hasn't is not written over."""


def renew_backup(engine: Engine, masters: MasterKeys, settings: Keys) -> None:
    """Write the backup anew, where one is kept. Raise WouldLose if it has keys that the ledger has
    lost."""
    if settings.backup_file is not None:
        replace_backup(engine, sealing_of(settings, masters), settings.backup_file)


def replace_backup(engine: Engine, sealing: Sealing, file: Path) -> int:
    """Write the backup anew; return how many keys are in it now. Raise WouldLose if it has keys
    that the ledger has lost."""
    before = _read(sealing, file)
    lost = transact(engine, lambda c: count_lost(c, before)) if before else 0
    if lost:
        raise WouldLose(
            f"{file} has {lost} keys that the ledger has lost, and is not written over: gatepost"
            f" keys restore {file}. If they are to be given up, move it away"
        )
    return write_backup(engine, sealing, file)


def _read(sealing: Sealing, file: Path) -> Content | None:
    """Read the backup; None if there is none, or if what it was sealed by is there no more. Raise
    ConfigurationError if the file may not be read: it may have keys that nothing else has."""
    try:
        return read_backup(sealing, file)
    except (ConfigurationError, KeysUnavailable) as error:
        if isinstance(error.__context__, PermissionError):
            words = "and is not written over"
            mend = f"chown --reference={file.parent} {file}"
            raise ConfigurationError(f"{error}, {words}: as root, {mend}") from None
        return None
