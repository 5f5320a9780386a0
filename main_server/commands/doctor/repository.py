"""SQL for what `gatepost doctor` asks of the ledger and its server. It only reads."""

from sqlalchemy import Connection, select, text

from main_server.messages.partitions import LAST
from main_server.store.tables import data_keys, service_keys


def read_version(connection: Connection) -> str:
    return str(connection.scalar(text("SELECT VERSION()")))


def read_doublewrite(connection: Connection) -> str:
    return str(connection.scalar(text("SELECT @@innodb_doublewrite")))


def count_queued(connection: Connection) -> int:
    query = "SELECT COUNT(*) FROM messages FORCE INDEX (ix_messages_status) WHERE status = 'queued'"
    return int(connection.scalar(text(query)) or 0)


def list_master_kids(connection: Connection) -> set[bytes]:
    """Return the ids of the master keys that stored keys are wrapped under."""
    tables = service_keys, data_keys
    return {
        bytes(kid)
        for table in tables
        for kid in connection.scalars(select(table.c.master_kid).distinct())
    }


def find_beyond(connection: Connection, table: str) -> bytes | None:
    """Return the first id in the last partition, which must stay empty."""
    query = text(f"SELECT MIN(message_id) FROM {table} PARTITION ({LAST})")
    found: bytes | None = connection.scalar(query)
    return found
