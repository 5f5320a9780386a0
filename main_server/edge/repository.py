"""SQL for the bundle."""

from datetime import datetime

from sqlalchemy import Connection, and_, select

from gatepost.bundle import KnownClient, KnownDomain
from gatepost.identity import Role
from main_server.tables import certificates, clients, domains


def list_domains(connection: Connection) -> list[KnownDomain]:
    query = select(domains.c.domain, domains.c.queue, domains.c.max_undelivered).order_by(
        domains.c.domain
    )
    return [KnownDomain(*row) for row in connection.execute(query)]


def list_clients(connection: Connection, now: datetime) -> list[KnownClient]:
    """The clients' active, unexpired certificates, with the limits of their holders."""
    held = and_(
        certificates.c.domain == clients.c.domain,
        certificates.c.name == clients.c.name,
        certificates.c.role == Role.CLIENT.value,
    )
    query = (
        select(
            certificates.c.fingerprint,
            clients.c.domain,
            clients.c.name,
            clients.c.rate_per_second,
            clients.c.burst,
        )
        .join(clients, held)
        .where(
            certificates.c.status == "active",
            certificates.c.not_after > now,
            clients.c.disabled_at.is_(None),
        )
        .order_by(certificates.c.serial)
    )
    return [
        KnownClient(
            fingerprint=row.fingerprint.hex(),
            domain=row.domain,
            name=row.name,
            rate_per_second=row.rate_per_second,
            burst=row.burst,
        )
        for row in connection.execute(query)
    ]
