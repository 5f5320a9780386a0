"""SQL for the bundle."""

from datetime import datetime

from sqlalchemy import Connection, and_, exists, or_, select

from gatepost.trust.identity import Role
from gatepost.wire.bundle import KnownClient, KnownDomain
from main_server.store.tables import certificates, clients, domains, pauses, trust_anchors
from main_server.tenants.pauses.repository import EVERYWHERE, What


def list_domains(connection: Connection) -> list[KnownDomain]:
    """List the domains without those that are disabled: nobody of theirs may send."""
    paused = exists().where(
        pauses.c.what == What.INTAKE.value,
        or_(pauses.c.name == domains.c.domain, pauses.c.name == EVERYWHERE),
    )
    query = select(domains.c.domain, domains.c.queue, domains.c.max_undelivered, paused)
    query = query.where(domains.c.disabled_at.is_(None)).order_by(domains.c.domain)
    found = connection.execute(query)
    return [KnownDomain(name, queue, most, bool(shut)) for name, queue, most, shut in found]


def list_clients(connection: Connection, now: datetime) -> list[KnownClient]:
    """List the clients' active, unexpired certificates, with the limits of their holders; those of
    a CA that isn't ours, while it is trusted in their domain."""
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
            certificates.c.anchor,
        )
        .join(clients, held)
        .outerjoin(domains, domains.c.domain == clients.c.domain)
        .outerjoin(trust_anchors, trust_anchors.c.anchor == certificates.c.anchor)
        .where(
            domains.c.disabled_at.is_(None),
            or_(
                certificates.c.anchor.is_(None),
                and_(
                    trust_anchors.c.removed_at.is_(None),
                    trust_anchors.c.domain == certificates.c.domain,
                ),
            ),
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
            anchor=row.anchor.hex() if row.anchor else None,
        )
        for row in connection.execute(query)
    ]
