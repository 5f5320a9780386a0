"""The one connection of a run: the lock on it says that no other run goes on.

A run writes everything on this connection. So a run that has lost it, and with it the lock, can't
publish beside the next one.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry, NullPool

from analytics.errors import AnotherRuns
from analytics.ledger import repository

_SESSION = (
    "SET SESSION time_zone = '+00:00', sql_mode = 'ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,"
    "NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION',"
    " wait_timeout = 86400"
)
"""The session's settings: between two statements of a run Spark may work for hours."""
LONGEST_STATEMENT_SECONDS = 3600


def create_ledger_engine(address: URL, seconds: int = LONGEST_STATEMENT_SECONDS) -> Engine:
    engine = create_engine(
        address,
        isolation_level="READ COMMITTED",
        poolclass=NullPool,
        connect_args={"connect_timeout": 5, "read_timeout": seconds},
        hide_parameters=True,
    )
    event.listen(engine, "connect", _set_up)
    return engine


def _set_up(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
    cursor = connection.cursor()
    cursor.execute(_SESSION)
    cursor.close()


@contextmanager
def the_only_run(engine: Engine) -> Iterator[Connection]:
    """Yield the connection, with the lock. It is freed when the connection ends, whatever ends
    it."""
    with engine.connect() as connection:
        with connection.begin():
            alone = repository.take_lock(connection)
        if not alone:
            raise AnotherRuns
        yield connection
