"""SQL for certificates that expire soon."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, Exists, and_, exists, or_, select, update

from gatepost.clock import from_ms, to_ms
from gatepost.trust.identity import Identity, Role
from main_server.store.tables import certificates, clients


@dataclass(frozen=True, slots=True)
class Expiring:
    serial: str
    identity: Identity
    not_before: datetime
    not_after: datetime
    days_announced: int | None

    def is_overdue(self, now: datetime) -> bool:
        """Tell whether two thirds of its life are over: by then its holder should have a new
        certificate."""
        return now >= self.not_before + (self.not_after - self.not_before) * 2 / 3


@dataclass(frozen=True, slots=True)
class Ending:
    """A holder's last certificate for a use, which ends soon or ended a little while ago."""

    serial: str
    fingerprint: str
    identity: Identity
    usage: str | None
    not_after: datetime


def is_replaced() -> Exists:
    """Return the condition that a row of `certificates` has been replaced: a holder who has a newer
    one for the same use has nothing to do. One from before uses were noted counts for any."""
    c, newer = certificates.c, certificates.alias("newer")
    return exists().where(
        newer.c.domain == c.domain,
        newer.c.name == c.name,
        newer.c.role == c.role,
        newer.c.status == "active",
        newer.c.not_after > c.not_after,
        or_(newer.c.used_for == c.used_for, newer.c.used_for.is_(None), c.used_for.is_(None)),
    )


def list_expiring(connection: Connection, within: timedelta, now: datetime) -> list[Expiring]:
    """List active certificates that haven't been replaced, the next to expire first."""
    c, moment = certificates.c, from_ms(to_ms(now))
    query = (
        select(c.serial, c.domain, c.role, c.name, c.not_before, c.not_after, c.days_announced)
        .where(c.status == "active", c.not_after > moment, c.not_after <= moment + within)
        .where(c.role.in_([role.value for role in Role]), ~is_replaced())
        .order_by(c.not_after, c.serial)
    )
    return [
        Expiring(
            row.serial,
            Identity(row.domain, Role(row.role), row.name),
            row.not_before.replace(tzinfo=UTC),
            row.not_after.replace(tzinfo=UTC),
            row.days_announced,
        )
        for row in connection.execute(query)
    ]


def claim_announcement(connection: Connection, serial: str, days: int) -> bool:
    """Claim an announcement; return whether it is ours to make: nobody has made it, or a more
    urgent one."""
    c = certificates.c
    statement = update(certificates).where(
        c.serial == serial, or_(c.days_announced.is_(None), c.days_announced > days)
    )
    return connection.execute(statement.values(days_announced=days)).rowcount == 1


def list_ending(
    connection: Connection, begin: datetime, end: datetime, domain: str | None, limit: int
) -> list[Ending]:
    """List certificates that end in that time, if their holders have none that lasts longer for the
    same use: those of a domain's clients, or, without a domain, of all that isn't a client. A
    client that is disabled has no use for any. Where a use was not noted yet, any certificate that
    lasts longer will do."""
    c, other = certificates.c, certificates.alias("other")
    lasts_longer = exists().where(
        other.c.domain == c.domain,
        other.c.name == c.name,
        other.c.role == c.role,
        or_(other.c.used_for == c.used_for, other.c.used_for.is_(None), c.used_for.is_(None)),
        other.c.status == "active",
        or_(
            other.c.not_after > c.not_after,
            and_(other.c.not_after == c.not_after, other.c.serial > c.serial),
        ),
    )
    disabled = exists().where(
        clients.c.domain == c.domain, clients.c.name == c.name, clients.c.disabled_at.is_not(None)
    )
    client, moments = Role.CLIENT.value, (from_ms(to_ms(begin)), from_ms(to_ms(end)))
    whose = [c.role != client] if domain is None else [c.role == client, c.domain == domain]
    query = (
        select(c.serial, c.fingerprint, c.domain, c.role, c.name, c.used_for, c.not_after)
        .where(c.status == "active", c.not_after > moments[0], c.not_after <= moments[1])
        .where(c.role.in_([role.value for role in Role]), *whose, ~lasts_longer)
        .where(or_(c.role != client, ~disabled))
        .order_by(c.not_after, c.serial)
        .limit(limit)
    )
    return [
        Ending(
            row.serial,
            row.fingerprint.hex(),
            Identity(row.domain, Role(row.role), row.name),
            row.used_for,
            row.not_after.replace(tzinfo=UTC),
        )
        for row in connection.execute(query)
    ]
