"""SQL for clients. A row is never deleted: a name is never used again by another."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select, update
from sqlalchemy.dialects.mysql import insert

from gatepost.clock import from_ms, to_ms
from gatepost.trust.identity import Identity
from main_server.store.tables import clients


@dataclass(frozen=True, slots=True)
class Client:
    client_id: str
    domain: str
    name: str
    rate_per_second: int
    burst: int
    created_at: datetime
    disabled_at: datetime | None


_COLUMNS = [clients.c[name] for name in Client.__slots__]


def find(connection: Connection, client_id: str, *, lock: bool = False) -> Client | None:
    query = select(*_COLUMNS).where(clients.c.client_id == client_id)
    row = connection.execute(query.with_for_update() if lock else query).one_or_none()
    return Client(*row) if row else None


def list_clients(
    connection: Connection, domain: str | None, after: str, limit: int
) -> list[Client]:
    query = select(*_COLUMNS).where(clients.c.client_id > after)
    if domain is not None:
        query = query.where(clients.c.domain == domain)
    query = query.order_by(clients.c.client_id).limit(limit)
    return [Client(*row) for row in connection.execute(query)]


def add(connection: Connection, identity: Identity, rate: int, burst: int, now: datetime) -> None:
    statement = insert(clients).values(
        client_id=identity.client_id,
        domain=identity.domain,
        name=identity.name,
        rate_per_second=rate,
        burst=burst,
        created_at=now,
    )
    connection.execute(statement.on_duplicate_key_update(client_id=clients.c.client_id))


def change(
    connection: Connection, client_id: str, rate: int, burst: int, disabled_at: datetime | None
) -> None:
    moment = from_ms(to_ms(disabled_at)) if disabled_at else None
    statement = update(clients).where(clients.c.client_id == client_id)
    connection.execute(statement.values(rate_per_second=rate, burst=burst, disabled_at=moment))
