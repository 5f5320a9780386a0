"""The ledger's schema version: what it is, what it should be, and the way there."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine

import migrations


def upgrade(engine: Engine, keys_schema: str, revision: str = "head") -> bool:
    """Brings the ledger to a revision; says whether there was anything to do."""
    with engine.connect() as connection:
        before = current(connection)
        if revision == "head" and before == head():
            return False
        command.upgrade(_config(connection, keys_schema), revision)
        connection.commit()
        return True


def downgrade(engine: Engine, keys_schema: str, revision: str) -> None:
    with engine.connect() as connection:
        command.downgrade(_config(connection, keys_schema), revision)
        connection.commit()


def current(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def head() -> str | None:
    return ScriptDirectory.from_config(_base_config()).get_current_head()


def _base_config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    return config


def _config(connection: Connection, keys_schema: str) -> Config:
    config = _base_config()
    config.attributes.update(connection=connection, keys_schema=keys_schema)
    return config
