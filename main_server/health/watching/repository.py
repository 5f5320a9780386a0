"""SQL for what is watched in the ledger. Each query costs the same, however many messages there
are."""

from dataclasses import dataclass

from sqlalchemy import Connection, text

MOST = 1_000


@dataclass(frozen=True, slots=True)
class Connections:
    open: int
    limit: int


def count_misplaced(connection: Connection, table: str, partition: str) -> int:
    """Count the rows of a partition that is to be empty; past MOST they aren't counted on."""
    assert table.isidentifier()
    assert partition.isidentifier()
    some = f"SELECT 1 FROM {table} PARTITION ({partition}) LIMIT {MOST}"
    return int(connection.scalar(text(f"SELECT COUNT(*) FROM ({some}) AS some")) or 0)


def read_connections(connection: Connection) -> Connections:
    row = connection.execute(text("SHOW GLOBAL STATUS LIKE 'Threads_connected'")).one()
    limit = connection.scalar(text("SELECT @@GLOBAL.max_connections"))
    return Connections(int(row[1]), int(limit or 0))
