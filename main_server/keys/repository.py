"""SQL for keys. What is stored is wrapped; nothing here can open it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from sqlalchemy import Connection, select
from sqlalchemy.dialects.mysql import insert

from main_server.tables import data_keys, service_keys


@dataclass(frozen=True, slots=True)
class WrappedDataKey:
    key_id: int
    client_id: str
    day: date
    wrapped: bytes


@dataclass(frozen=True, slots=True)
class WrappedServiceKey:
    kid: bytes
    purpose: str
    wrapped: bytes
    public: bytes | None


def find_data_keys(
    connection: Connection, wanted: Sequence[tuple[str, date]]
) -> list[WrappedDataKey]:
    query = select(
        data_keys.c.key_id, data_keys.c.client_id, data_keys.c.day, data_keys.c.wrapped
    ).where(
        data_keys.c.client_id.in_({client_id for client_id, _ in wanted}),
        data_keys.c.day.in_({day for _, day in wanted}),
    )
    return [WrappedDataKey(*row) for row in connection.execute(query)]


def find_data_key(connection: Connection, key_id: int) -> WrappedDataKey | None:
    query = select(
        data_keys.c.key_id, data_keys.c.client_id, data_keys.c.day, data_keys.c.wrapped
    ).where(data_keys.c.key_id == key_id)
    row = connection.execute(query).first()
    return WrappedDataKey(*row) if row else None


def add_data_key(
    connection: Connection,
    client_id: str,
    day: date,
    master_kid: bytes,
    wrapped: bytes,
    now: datetime,
) -> None:
    """The first one stays: another process may have made it at the same time."""
    statement = insert(data_keys).values(
        client_id=client_id, day=day, master_kid=master_kid, wrapped=wrapped, created_at=now
    )
    connection.execute(statement.on_duplicate_key_update(client_id=data_keys.c.client_id))


def list_service_keys(connection: Connection) -> list[WrappedServiceKey]:
    """Newest first."""
    query = select(
        service_keys.c.kid, service_keys.c.purpose, service_keys.c.wrapped, service_keys.c.public
    ).order_by(service_keys.c.created_at.desc(), service_keys.c.kid)
    return [WrappedServiceKey(*row) for row in connection.execute(query)]


def add_service_key(
    connection: Connection, key: WrappedServiceKey, master_kid: bytes, now: datetime
) -> None:
    connection.execute(
        insert(service_keys).values(
            kid=key.kid,
            purpose=key.purpose,
            master_kid=master_kid,
            wrapped=key.wrapped,
            public=key.public,
            created_at=now,
        )
    )
