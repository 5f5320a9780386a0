"""SQL for backups: the locks against the nightly job and others, the counts of the ledger, and what
a restored one must forget."""

from datetime import datetime

from sqlalchemy import Connection, Engine, delete, func, inspect, select, text, update

from main_server.store.tables import (
    KEYS,
    audit_log,
    data_keys,
    enrolment_tokens,
    messages,
    password_links,
    redrives,
    sessions,
)


def take_lock(connection: Connection, name: str, wait_seconds: int) -> bool:
    """Take a lock, which is freed when the connection ends. The connection may be idle for a
    day."""
    connection.execute(text("SET SESSION wait_timeout = 86400"))
    values = {"name": name, "seconds": wait_seconds}
    taken: int | None = connection.scalar(text("SELECT GET_LOCK(:name, :seconds)"), values)
    return taken == 1


def free_lock(connection: Connection, name: str) -> None:
    connection.execute(text("SELECT RELEASE_LOCK(:name)"), {"name": name})


def count_messages(connection: Connection) -> int:
    return connection.execute(select(func.count()).select_from(messages)).scalar_one()


def count_bytes(connection: Connection) -> int:
    """Count the bytes that the ledger's tables take on the database's disk, about."""
    query = (
        "SELECT COALESCE(SUM(data_length + index_length), 0) FROM information_schema.tables"
        " WHERE table_schema = DATABASE()"
    )
    return int(connection.scalar(text(query)) or 0)


def read_data_folder(connection: Connection) -> str:
    """Return the folder in which the database keeps its data, on its machine."""
    return str(connection.scalar(text("SELECT @@datadir")))


def takes_no_changes(connection: Connection) -> bool:
    return str(connection.scalar(text("SELECT @@read_only"))) not in ("0", "OFF")


def is_empty(connection: Connection) -> bool:
    """Return whether there is nothing in the ledger that a restore would lose."""
    if not inspect(connection).has_table(messages.name):
        return True
    return not any(
        connection.execute(select(table.c[0]).limit(1)).first() for table in (messages, audit_log)
    )


def has_key_tables(connection: Connection, keys_schema: str) -> bool:
    assert data_keys.schema == KEYS
    return inspect(connection).has_table(data_keys.name, schema=keys_schema)


def make_schema(engine: Engine, name: str) -> None:
    """Make the schema anew: what was left there is gone. The name was checked by the settings."""
    with engine.begin() as connection:
        connection.execute(text(f"DROP DATABASE IF EXISTS {name}"))
        options = "CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci"
        connection.execute(text(f"CREATE DATABASE {name} {options}"))


def drop_schema(engine: Engine, name: str) -> None:
    with engine.begin() as connection:
        connection.execute(text(f"DROP DATABASE IF EXISTS {name}"))


def forget_what_is_open(connection: Connection, now: datetime) -> None:
    """Forget what is open in a restored ledger. Sessions and one-time tokens that have been ended
    or used since would be good again, and a redrive would go over messages that it had done
    with."""
    connection.execute(delete(sessions))
    connection.execute(delete(password_links))
    connection.execute(
        update(enrolment_tokens)
        .where(enrolment_tokens.c.used_at.is_(None), enrolment_tokens.c.withdrawn_at.is_(None))
        .values(withdrawn_at=now)
    )
    connection.execute(
        update(redrives).where(redrives.c.state == "running").values(state="stopped", ended_at=now)
    )
