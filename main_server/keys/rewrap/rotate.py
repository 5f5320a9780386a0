"""Rotate the master key, online. At every moment the file holds what the ledger needs.

    1. the file gets a new key before the old one
    2. the ledger names the new one: nothing is wrapped under the old one any more
    3. what the old one wraps is wrapped again, in batches
    4. the file loses the old key

Interrupted anywhere and begun again, it goes on with the step that is next.
"""

import secrets
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine

from gatepost.errors import GatepostError, KeysUnavailable
from main_server import key_file
from main_server.key_file import KEY_BYTES
from main_server.keys import repository
from main_server.keys.master import MasterKey, MasterKeys, data_purpose, service_purpose
from main_server.keys.rewrap import repository as wrappings
from main_server.store.database import transact

BATCH = 500


class StillNeeded(GatepostError):
    """Some keys can't be unwrapped; the old master key stays in the file."""


def prepare(engine: Engine, file: Path) -> bool:
    """Do step 1: put a new key into the file; return False if one was there already."""
    keys = key_file.read_keys(file)
    kids = [MasterKey(key).kid for key in keys]
    current = transact(engine, repository.find_master)
    if current not in kids:
        raise KeysUnavailable(f"{file} does not hold the master key that the ledger names.")
    if len(keys) > 1:
        return False
    key_file.write_keys(file, [secrets.token_bytes(KEY_BYTES), *keys])
    return True


def rewrap(engine: Engine, masters: MasterKeys) -> Iterator[int]:
    """Do steps 2 and 3; yield how many keys have been done, again and again."""
    new = masters.newest
    transact(engine, partial(_switch, new=new))
    done = 0
    for kind in wrappings.TABLES:
        after: Any = None
        under_others = partial(
            wrappings.list_under_others, kind=kind, master_kid=new.kid, limit=BATCH
        )
        while found := transact(engine, partial(under_others, after=after)):
            after = found[-1][0]
            done += _wrap_again(engine, masters, kind, found)
            yield done


def finish(engine: Engine, file: Path) -> None:
    """Do step 4: leave the new key alone in the file, if nothing needs another."""
    newest = key_file.read_keys(file)[0]
    kid = MasterKey(newest).kid

    def check(connection: Connection) -> None:
        if repository.own_master(connection) != kid:
            raise KeysUnavailable("The ledger names another master key than the file's first.")
        if left := wrappings.count_under_others(connection, kid):
            raise StillNeeded(
                f"{left} keys can't be unwrapped; the old master key stays in {file}."
            )

    transact(engine, check)
    key_file.write_keys(file, [newest])


def _switch(connection: Connection, new: MasterKey) -> None:
    """Make the ledger name the new key, after waiting for all who are adding keys; whoever comes
    later wraps under the new one."""
    if repository.own_master(connection) != new.kid:
        repository.change_master(connection, new.kid, repository.read_time(connection))


def _wrap_again(engine: Engine, masters: MasterKeys, kind: str, found: Any) -> int:
    wrapped: dict[Any, bytes] = {}
    for row in found:
        purpose = (
            data_purpose(row.key_id, row.client_id, row.day)
            if kind == "data"
            else service_purpose(row.purpose, row.kid)
        )
        try:
            secret = masters.get(row.master_kid).unwrap(row.wrapped, purpose)
        except KeysUnavailable:
            continue  # told at the end, when it keeps the old key in the file
        wrapped[row[0]] = masters.newest.wrap(secret, purpose)
    if wrapped:
        change = partial(
            wrappings.change_wrapping, kind=kind, master_kid=masters.newest.kid, wrapped=wrapped
        )
        transact(engine, change)
    return len(wrapped)
