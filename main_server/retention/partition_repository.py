"""SQL for partitions, for the locks under which one is dropped, and for who is in the way.

While the tables are locked nobody else reads or writes them. So everything that is asked under the
locks is answered from an index, and nobody waits for the locks for longer than a second.
"""

from dataclasses import dataclass
from datetime import date

from sqlalchemy import Connection, text

from main_server.retention.days import Span, last_day_in
from main_server.store.tables import KEYS

TABLES = ("messages", "attempts")
_LOCKED = (
    "LOCK TABLES messages WRITE, attempts WRITE, lake_manifest READ, legal_holds READ,"
    " clients READ, domains READ"
)


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition: it has the rows of its last day, and of the days before it back to the partition
    before.

    `rows` and `bytes` are the server's estimates."""

    table: str
    name: str
    last_day: date
    rows: int
    bytes: int


def list_partitions(connection: Connection) -> list[Partition]:
    """Return the partitions that are a day, the oldest first."""
    query = text(
        "SELECT table_name, partition_name, table_rows, data_length + index_length"
        " FROM information_schema.partitions WHERE table_schema = DATABASE()"
        " AND table_name IN ('messages', 'attempts') AND partition_name IS NOT NULL"
        " ORDER BY partition_ordinal_position"
    )
    found = [(*row, last_day_in(row[1])) for row in connection.execute(query)]
    return [Partition(t, name, day, int(n), int(size)) for t, name, n, size, day in found if day]


def clients_in(connection: Connection, partition: str) -> list[str]:
    """Return the clients that have messages in the partition: one look into the index for each."""
    query = f"SELECT DISTINCT client_id FROM {_in(partition)} FORCE INDEX (ix_messages_client)"
    return list(connection.execute(text(query)).scalars())


def has_waiting(connection: Connection, partition: str) -> bool:
    query = (
        f"SELECT 1 FROM {_in(partition)} FORCE INDEX (ix_messages_status)"
        " WHERE status = 'queued' LIMIT 1"
    )
    return connection.execute(text(query)).first() is not None


def first_in(connection: Connection, partition: str) -> bytes | None:
    found: bytes | None = connection.scalar(text(f"SELECT MIN(message_id) FROM {_in(partition)}"))
    return found


def has_messages_in(connection: Connection, span: Span) -> bool:
    query = text("SELECT 1 FROM messages WHERE message_id >= :first AND message_id < :end LIMIT 1")
    values = {"first": span.first, "end": span.end}
    return connection.execute(query, values).first() is not None


def lock_tables(connection: Connection) -> None:
    """Lock the tables, waiting a second at most for those who use them now; new users wait
    meanwhile, too."""
    connection.execute(text("SET SESSION lock_wait_timeout = 1"))
    connection.execute(text(_LOCKED))


def drop(connection: Connection, table: str, partition: str) -> None:
    if table not in TABLES or last_day_in(partition) is None:
        raise ValueError("not a partition of ours")
    connection.execute(text(f"ALTER TABLE {table} DROP PARTITION {partition}"))


def unlock_tables(connection: Connection) -> None:
    connection.execute(text("UNLOCK TABLES"))


def open_snapshots(connection: Connection) -> dict[tuple[int, str], str]:
    """Return the transactions of others that see the ledger as it was when they began, each with
    who it is.

    All of our own read what is committed. A backup doesn't: it would break off if a partition that
    it is about to read were dropped, and the drop waits for it while it reads one. A connection
    that uses a schema that isn't ours is somebody else's application; one that uses none may be
    about to read any.
    """
    query = text(
        "SELECT t.trx_mysql_thread_id, CAST(t.trx_started AS CHAR), p.user"
        " FROM information_schema.innodb_trx AS t"
        " LEFT JOIN information_schema.processlist AS p ON p.id = t.trx_mysql_thread_id"
        " WHERE t.trx_isolation_level IN ('REPEATABLE READ', 'SERIALIZABLE')"
        " AND t.trx_mysql_thread_id NOT IN (0, CONNECTION_ID())"
        " AND (p.db IS NULL OR p.db IN (DATABASE(), :keys))"
    )
    schemas = connection.get_execution_options()["schema_translate_map"]
    rows = connection.execute(query, {"keys": schemas[KEYS]})
    return {(int(row[0]), row[1]): f"{row[2] or 'somebody'} (connection {row[0]})" for row in rows}


def _in(partition: str) -> str:
    """Return the SQL that names the partition. Its name is a date, nothing that was sent."""
    if last_day_in(partition) is None:
        raise ValueError("not a partition of ours")
    return f"messages PARTITION ({partition})"
