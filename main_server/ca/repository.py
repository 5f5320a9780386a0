"""SQL for certificates and those who hold them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select, update
from sqlalchemy.dialects.mysql import insert

from gatepost.identity import Identity, Role
from main_server.tables import certificates, clients, domains

DEFAULT_MAX_UNDELIVERED = 1_000_000


@dataclass(frozen=True, slots=True)
class Known:
    """A certificate that may be used now."""

    fingerprint: str
    identity: Identity


def add_domain(connection: Connection, domain: str, queue: str | None, now: datetime) -> None:
    """With a queue of its own, no other domain's flood can hold its messages up."""
    statement = insert(domains).values(
        domain=domain, queue=queue, max_undelivered=DEFAULT_MAX_UNDELIVERED, created_at=now
    )
    connection.execute(statement.on_duplicate_key_update(domain=domains.c.domain))


def add_client(
    connection: Connection, identity: Identity, rate: int, burst: int, now: datetime
) -> None:
    statement = insert(clients).values(
        client_id=identity.client_id,
        domain=identity.domain,
        name=identity.name,
        rate_per_second=rate,
        burst=burst,
        created_at=now,
    )
    connection.execute(statement.on_duplicate_key_update(client_id=clients.c.client_id))


def record_intent(
    connection: Connection,
    serial: str,
    issuer: str,
    identity: Identity,
    validity: tuple[datetime, datetime],
    now: datetime,
) -> None:
    connection.execute(
        insert(certificates).values(
            serial=serial,
            domain=identity.domain,
            role=identity.role.value,
            name=identity.name,
            status="intended",
            not_before=validity[0],
            not_after=validity[1],
            created_at=now,
            issuer=issuer,
        )
    )


def activate(connection: Connection, serial: str, fingerprint: bytes) -> None:
    connection.execute(
        update(certificates)
        .where(certificates.c.serial == serial, certificates.c.status == "intended")
        .values(status="active", fingerprint=fingerprint)
    )


def list_known(connection: Connection, roles: Sequence[Role], now: datetime) -> list[Known]:
    """Active, unexpired certificates of these roles."""
    c = certificates.c
    query = (
        select(c.fingerprint, c.domain, c.role, c.name)
        .where(c.status == "active", c.not_after > now, c.role.in_([r.value for r in roles]))
        .order_by(c.serial)
    )
    return [
        Known(row.fingerprint.hex(), Identity(row.domain, Role(row.role), row.name))
        for row in connection.execute(query)
    ]
