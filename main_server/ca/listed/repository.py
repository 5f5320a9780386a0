"""SQL for looking at certificates."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from sqlalchemy import ColumnElement, Connection, select

from gatepost.clock import from_ms, to_ms
from gatepost.identity import Identity, Role
from main_server.ca.revoked.repository import Selection
from main_server.tables import certificates

MOST = 500
ANY = Selection()


class Status(StrEnum):
    """Expired is nothing that the ledger says: time does."""

    INTENDED = "intended"
    ACTIVE = "active"
    HELD = "held"
    REVOKED = "revoked"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Filter:
    """All that is given must fit; `after` is the serial that the page before has ended with."""

    selection: Selection = ANY
    status: Status | None = None
    expiring_within: timedelta | None = None
    after: str = ""
    limit: int = MOST


@dataclass(frozen=True, slots=True)
class Row:
    serial: str
    domain: str
    role: str
    name: str
    status: str
    fingerprint: bytes | None
    not_before: datetime
    not_after: datetime
    created_at: datetime
    issuer: str | None
    revoked_at: datetime | None
    revocation_reason: str | None
    der: bytes | None = field(repr=False)
    anchor: bytes | None
    """The key of its CA, if that isn't ours."""

    @property
    def identity(self) -> Identity:
        return Identity(self.domain, Role(self.role), self.name)

    def status_at(self, now: datetime) -> Status:
        over = self.not_after.replace(tzinfo=UTC) <= now
        return Status.EXPIRED if over and self.status == "active" else Status(self.status)


_COLUMNS = [certificates.c[name] for name in Row.__slots__]


def list_rows(connection: Connection, wanted: Filter, now: datetime) -> list[Row]:
    """By serial, which is at random: pages of it neither lose nor repeat one."""
    c, moment = certificates.c, from_ms(to_ms(now))
    roles = [role.value for role in Role]
    conditions: list[ColumnElement[bool]] = [c.serial > wanted.after, c.role.in_(roles)]
    if wanted.selection != ANY:
        conditions.append(wanted.selection.condition())
    if wanted.status is Status.EXPIRED:
        conditions += [c.status == "active", c.not_after <= moment]
    elif wanted.status is not None:
        conditions.append(c.status == wanted.status.value)
    if wanted.status is Status.ACTIVE or wanted.expiring_within is not None:
        conditions += [c.status == "active", c.not_after > moment]
    if wanted.expiring_within is not None:
        conditions.append(c.not_after <= moment + wanted.expiring_within)
    query = select(*_COLUMNS).where(*conditions).order_by(c.serial).limit(min(wanted.limit, MOST))
    return [Row(*row) for row in connection.execute(query)]


def find_by_key(connection: Connection, public_key: bytes) -> Row | None:
    """The active certificate of a key, if it is of ours."""
    c = certificates.c
    is_it = (c.public_key == public_key, c.status == "active", c.anchor.is_(None))
    query = select(*_COLUMNS).where(*is_it).limit(1)
    row = connection.execute(query).one_or_none()
    return Row(*row) if row else None
