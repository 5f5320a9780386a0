"""SQL of the pulse, by which it is known how far a replica has come."""

from datetime import datetime

from sqlalchemy import Connection, func, select
from sqlalchemy.dialects.mysql import insert

from main_server.store.tables import replica_pulse


def beat(connection: Connection) -> None:
    """Write the ledger's own time: of several main servers each may do so."""
    now = func.utc_timestamp(3)
    statement = insert(replica_pulse).values(one=1, at=now)
    connection.execute(statement.on_duplicate_key_update(at=now))


def read(connection: Connection) -> datetime | None:
    """Read the pulse; None where none was ever written."""
    return connection.execute(select(replica_pulse.c.at)).scalar_one_or_none()
