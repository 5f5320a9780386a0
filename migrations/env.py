"""Alembic's environment: runs on the connection that it is given, in the ledger's schema.

The keys' tables live in a schema of their own, whose name comes from the settings.
"""

from typing import Any

from alembic import context

from main_server.store.tables import KEYS, metadata


def _ours(name: str | None, kind: str, _parent: Any) -> bool:
    if kind == "schema":
        return name in (None, KEYS)
    return True


connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=metadata,
    include_schemas=True,
    include_name=_ours,
    compare_type=True,
)
with context.begin_transaction():
    context.run_migrations()
