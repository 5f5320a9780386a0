"""SQL for certificates and those who hold them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, func, select, union, update
from sqlalchemy.dialects.mysql import insert

from gatepost.clock import from_ms, to_ms
from gatepost.trust.identity import INFRASTRUCTURE_DOMAIN, Identity, Role
from main_server.ca.authority import Order
from main_server.store.tables import certificates, clients, domains

DEFAULT_MAX_UNDELIVERED = 1_000_000


@dataclass(frozen=True, slots=True)
class Known:
    """A certificate that may be used now."""

    fingerprint: str
    identity: Identity


@dataclass(frozen=True, slots=True)
class Intent:
    """A certificate that is about to be signed."""

    serial: str
    issuer: str
    order: Order
    public_key: bytes
    now: datetime
    not_after: datetime
    origin: str
    actor: str
    predecessor: str | None


def add_domain(connection: Connection, domain: str, queue: str | None, now: datetime) -> None:
    """Add a domain, unless it is there; with a queue of its own, no other domain's flood can hold
    its messages up."""
    statement = insert(domains).values(
        domain=domain, queue=queue, max_undelivered=DEFAULT_MAX_UNDELIVERED, created_at=now
    )
    connection.execute(statement.on_duplicate_key_update(domain=domains.c.domain))


def find_domains(connection: Connection, name: str) -> list[str]:
    """Return the domains in which somebody of that name is, or was."""
    held = select(certificates.c.domain).where(certificates.c.name == name)
    added = select(clients.c.domain).where(clients.c.name == name)
    return sorted(connection.execute(union(held, added)).scalars())


def list_partners_domains(connection: Connection) -> list[str]:
    query = select(domains.c.domain).where(domains.c.domain != INFRASTRUCTURE_DOMAIN)
    return list(connection.execute(query.order_by(domains.c.domain)).scalars())


def count_by_issuer(connection: Connection, now: datetime) -> dict[str, int]:
    """Count the certificates of each intermediate that may be used now, or are on hold."""
    c = certificates.c
    query = (
        select(c.issuer, func.count())
        .where(c.status.in_(("active", "held")), c.not_after > from_ms(to_ms(now)))
        .group_by(c.issuer)
    )
    return {issuer or "": count for issuer, count in connection.execute(query)}


def is_key_known(connection: Connection, public_key: bytes, but: str = "") -> bool:
    """Tell whether any certificate but the one of serial `but` has the key. An intent that came to
    nothing has certified none."""
    c = certificates.c
    certified = (c.public_key == public_key, c.status != "intended", c.serial != but)
    return connection.execute(select(c.serial).where(*certified).limit(1)).first() is not None


def count_active(connection: Connection, serials: Collection[str]) -> int:
    c = certificates.c
    query = select(func.count()).where(c.serial.in_(serials), c.status == "active")
    return connection.execute(query).scalar_one()


def count_held(connection: Connection, holder: Identity, issuer: str, now: datetime) -> int:
    """Count the certificates of an intermediate that somebody may use now."""
    c = certificates.c
    query = select(func.count()).where(
        c.domain == holder.domain,
        c.name == holder.name,
        c.role == holder.role.value,
        c.issuer == issuer,
        c.status == "active",
        c.not_after > from_ms(to_ms(now)),
    )
    return connection.execute(query).scalar_one()


def record_intent(connection: Connection, intent: Intent) -> None:
    who = intent.order.identity
    connection.execute(
        insert(certificates).values(
            serial=intent.serial,
            issuer=intent.issuer,
            domain=who.domain,
            role=who.role.value,
            name=who.name,
            status="intended",
            not_before=from_ms(to_ms(intent.now)),
            not_after=from_ms(to_ms(intent.not_after)),
            created_at=from_ms(to_ms(intent.now)),
            public_key=intent.public_key,
            used_for=intent.order.usage.name.lower(),
            origin=intent.origin,
            actor=intent.actor,
            predecessor=intent.predecessor,
        )
    )


def record_responder(
    connection: Connection, serial: str, issuer: str, now: datetime, not_after: datetime
) -> None:
    """Record the certificate of a responder to OCSP. That is no role: nobody can call anything with
    it."""
    connection.execute(
        insert(certificates).values(
            serial=serial,
            issuer=issuer,
            domain=INFRASTRUCTURE_DOMAIN,
            role="ocsp",
            name="responder",
            status="intended",
            not_before=from_ms(to_ms(now)),
            not_after=from_ms(to_ms(not_after)),
            created_at=from_ms(to_ms(now)),
        )
    )


def activate(connection: Connection, serial: str, fingerprint: bytes, der: bytes) -> bool:
    """Make a certificate active; return whether it is now: it isn't if it was revoked meanwhile."""
    c = certificates.c
    connection.execute(
        update(certificates)
        .where(c.serial == serial, c.status == "intended")
        .values(status="active", fingerprint=fingerprint, der=der)
    )
    is_it = (c.serial == serial, c.status == "active", c.fingerprint == fingerprint)
    return connection.execute(select(c.serial).where(*is_it)).first() is not None


def list_known(connection: Connection, roles: Sequence[Role], now: datetime) -> list[Known]:
    """List active, unexpired certificates of ours, of these roles. Administrators of a disabled
    domain are not among them; what serves it is, or what was accepted could not be delivered."""
    c = certificates.c
    disabled = select(domains.c.domain).where(domains.c.disabled_at.is_not(None))
    shut_out = (c.role == Role.ADMIN.value) & c.domain.in_(disabled)
    query = (
        select(c.fingerprint, c.domain, c.role, c.name)
        .where(c.status == "active", c.not_after > now, c.role.in_([r.value for r in roles]))
        .where(c.anchor.is_(None))
        .where(~shut_out)
        .order_by(c.serial)
    )
    return [
        Known(row.fingerprint.hex(), Identity(row.domain, Role(row.role), row.name))
        for row in connection.execute(query)
    ]
