"""SQL for certificates that expire soon."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, or_, select, update

from gatepost.clock import from_ms, to_ms
from gatepost.identity import Identity, Role
from main_server.tables import certificates


@dataclass(frozen=True, slots=True)
class Expiring:
    serial: str
    identity: Identity
    not_after: datetime
    days_announced: int | None


def list_expiring(connection: Connection, within: timedelta, now: datetime) -> list[Expiring]:
    """Active ones, the next to expire first."""
    c, moment = certificates.c, from_ms(to_ms(now))
    query = (
        select(c.serial, c.domain, c.role, c.name, c.not_after, c.days_announced)
        .where(c.status == "active", c.not_after > moment, c.not_after <= moment + within)
        .where(c.role.in_([role.value for role in Role]))
        .order_by(c.not_after, c.serial)
    )
    return [
        Expiring(
            row.serial,
            Identity(row.domain, Role(row.role), row.name),
            row.not_after.replace(tzinfo=UTC),
            row.days_announced,
        )
        for row in connection.execute(query)
    ]


def claim_announcement(connection: Connection, serial: str, days: int) -> bool:
    """Whether it is ours to say: nobody has said it, or anything more urgent."""
    c = certificates.c
    statement = update(certificates).where(
        c.serial == serial, or_(c.days_announced.is_(None), c.days_announced > days)
    )
    return connection.execute(statement.values(days_announced=days)).rowcount == 1
