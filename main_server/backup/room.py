"""Check that there is room for what is about to be written, before any of it is.

A disk that is filled up stops the ledger that lives on it: a trial of a backup must never be what
fills it. About the disk of a database on another machine nothing can be told from here.
"""

from pathlib import Path

from sqlalchemy import URL, Connection

from gatepost.errors import Unavailable
from gatepost.room import existing, free_at
from main_server.backup import repository
from main_server.backup.content import FILES, LEDGER, Manifest, find_all

LOCAL = ("127.0.0.1", "::1", "localhost")
READ_IN = 1.5
"""The factor by which a ledger takes more than its tables did while it is read in: there is a log
as well."""
EXPANDED = 10
"""The factor from the length of the compressed dump to what the tables took, where nobody noted
that."""
GROWN = 1.25
"""The factor by which the next backup may take more than the last one."""
SPARE = 64 * 2**20
"""The bytes that are left to others, and to what takes more than it should."""


class NoRoom(Unavailable):
    """There is no room."""


def ledger_folder(connection: Connection, address: URL) -> Path | None:
    """Return the folder in which the database keeps its data, or the nearest one above it if we may
    not look inside; None if it is not on this machine."""
    if address.host not in LOCAL:
        return None
    folder = Path(repository.read_data_folder(connection))
    try:
        return folder if folder.is_dir() else None
    except PermissionError:
        return existing(folder)


def demand_for_backup(connection: Connection, folder: Path) -> None:
    """Demand room for a backup, going by the last one; the first may take as much as the tables
    do."""
    found = find_all(folder)
    wanted = found[-1].bytes * GROWN if found else repository.count_bytes(connection)
    _demand(folder, wanted + SPARE, "a backup")


def demand_for_ledger(connection: Connection, address: URL, manifest: Manifest) -> None:
    if folder := ledger_folder(connection, address):
        held = manifest.table_bytes or manifest.lengths[LEDGER] * EXPANDED
        _demand(folder, held * READ_IN + SPARE, "this backup, read in,")


def demand_for_files(folder: Path, manifest: Manifest) -> None:
    _demand(folder, manifest.lengths[FILES] + SPARE, "the files of this backup")


def _demand(folder: Path, wanted: float, what: str) -> None:
    free = free_at(folder)
    if free < wanted:
        words = f"{what} may take {_mib(wanted)} in {folder}, and {_mib(free)} are free there"
        raise NoRoom(f"{words}. Nothing was changed: make room first, or mount more")


def _mib(count: float) -> str:
    return f"{count / 2**20:,.0f} MiB"
