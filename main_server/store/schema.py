"""The ledger's schema version: what it is, what it should be, and the way there.

Whoever changes a table waits until all who use it are done, and all who come later wait behind. So
an upgrade waits for moments only, and lets the others by in between: a long read, as the nightly
one, may hold up that, and nothing else.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, event, text

import migrations
from main_server.store.database import LOCK_TIMEOUT, transact

LOCK_SECONDS, PAUSE_SECONDS, TRIES = 5, 1.0, 100
"""Seconds that a statement waits for its table at a time, and that others have before it tries
again; and how often it does."""


def upgrade(engine: Engine, keys_schema: str, revision: str = "head") -> bool:
    """Bring the ledger to a revision; return whether there was anything to do."""
    with _changing(engine) as connection:
        before = current(connection)
        if revision == "head" and before == head():
            return False
        command.upgrade(_config(connection, keys_schema), revision)
        connection.commit()
        return True


def downgrade(engine: Engine, keys_schema: str, revision: str) -> None:
    with _changing(engine) as connection:
        command.downgrade(_config(connection, keys_schema), revision)
        connection.commit()


def current(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def problem(engine: Engine) -> str | None:
    """Return why this release can't work on the ledger; None if it can. A ledger of a later release
    will do: it is upgraded first, while processes of the one before still run."""
    found = transact(engine, current)
    scripts = ScriptDirectory.from_config(_base_config())
    if found is not None and found not in {one.revision for one in scripts.walk_revisions()}:
        return None
    wanted = scripts.get_current_head()
    if found == wanted:
        return None
    there = found or "empty"
    return f"the ledger is {there}, this release wants {wanted}: run 'gatepost db upgrade'"


def head() -> str | None:
    return ScriptDirectory.from_config(_base_config()).get_current_head()


def is_known(revision: str) -> bool:
    """Tell whether this release can bring a ledger of that revision to its own."""
    script = ScriptDirectory.from_config(_base_config())
    return any(one.revision == revision for one in script.walk_revisions())


@contextmanager
def _changing(engine: Engine) -> Iterator[Connection]:
    """Yield a connection by which each statement waits for its table as is said above."""
    event.listen(engine, "do_execute", _let_others_by)
    try:
        with engine.connect() as connection:
            connection.execute(text(f"SET SESSION lock_wait_timeout = {LOCK_SECONDS}"))
            try:
                yield connection
            finally:
                connection.invalidate()  # with its setting, which nobody else wants
    finally:
        event.remove(engine, "do_execute", _let_others_by)


def _let_others_by(cursor: Any, statement: str, parameters: Any, _context: Any) -> bool:
    for left in reversed(range(TRIES)):
        try:
            cursor.execute(statement, parameters)
            return True
        except cursor.connection.OperationalError as error:
            if left == 0 or error.args[0] != LOCK_TIMEOUT:
                raise
        time.sleep(PAUSE_SECONDS)
    raise AssertionError("unreachable")


def _base_config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    return config


def _config(connection: Connection, keys_schema: str) -> Config:
    config = _base_config()
    config.attributes.update(connection=connection, keys_schema=keys_schema)
    return config
