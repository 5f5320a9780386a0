"""SQL for wrapping again, whatever kind of key it is."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Column, Connection, Table, case, func, select, update

from main_server.store.tables import data_keys, service_keys

TABLES: dict[str, tuple[Table, Column[Any]]] = {
    "data": (data_keys, data_keys.c.key_id),
    "service": (service_keys, service_keys.c.kid),
}


def list_under_others(
    connection: Connection, kind: str, master_kid: bytes, after: Any, limit: int
) -> Sequence[Any]:
    """List keys that another master key wraps, in the order of their ids."""
    table, kid = TABLES[kind]
    query = select(table).where(table.c.master_kid != master_kid)
    if after is not None:
        query = query.where(kid > after)
    return connection.execute(query.order_by(kid).limit(limit)).all()


def count_under_others(connection: Connection, master_kid: bytes) -> int:
    return sum(
        int(connection.execute(query).scalar_one())
        for query in (
            select(func.count()).select_from(table).where(table.c.master_kid != master_kid)
            for table, _ in TABLES.values()
        )
    )


def change_wrapping(
    connection: Connection, kind: str, master_kid: bytes, wrapped: Mapping[Any, bytes]
) -> None:
    """Store keys as they are wrapped now. A key that was destroyed meanwhile stays so: nothing is
    inserted here."""
    table, kid = TABLES[kind]
    statement = update(table).where(kid.in_(sorted(wrapped)), table.c.master_kid != master_kid)
    connection.execute(
        statement.values(wrapped=case(dict(wrapped), value=kid), master_kid=master_kid)
    )
