"""SQL for looking at certificates."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from sqlalchemy import ColumnElement, Connection, and_, false, func, or_, select

from gatepost.clock import from_ms, to_ms
from gatepost.trust.identity import Identity, Role
from main_server.ca.revoked.repository import Selection
from main_server.store.tables import certificates, messages

MOST = 500
LATEST = 1_000
"""The number of a client's latest messages that are looked at for who has sent them."""
ANY = Selection()


class Status(StrEnum):
    """The status of a certificate. It is not the ledger that says `EXPIRED`, but time."""

    INTENDED = "intended"
    ACTIVE = "active"
    HELD = "held"
    REVOKED = "revoked"
    EXPIRED = "expired"


class Sorting(StrEnum):
    """The order of a list: by serial, which is at random, or with the next to expire first."""

    SERIAL = "serial"
    EXPIRY = "expiry"


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter of certificates: all that is given must fit; `after` is the serial that the page
    before has ended with."""

    selection: Selection = ANY
    status: Status | None = None
    expiring_within: timedelta | None = None
    after: str = ""
    limit: int = MOST
    sorting: Sorting = Sorting.SERIAL


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
    used_for: str | None
    origin: str | None
    actor: str | None
    predecessor: str | None
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
    """List a page. What it is sorted by never changes: pages neither lose nor repeat a row."""
    c, moment = certificates.c, from_ms(to_ms(now))
    conditions: list[ColumnElement[bool]] = [c.role.in_([role.value for role in Role])]
    if wanted.selection != ANY:
        conditions.append(wanted.selection.condition())
    conditions += _following(connection, wanted, conditions)
    if wanted.status is Status.EXPIRED:
        conditions += [c.status == "active", c.not_after <= moment]
    elif wanted.status is not None:
        conditions.append(c.status == wanted.status.value)
    if wanted.status is Status.ACTIVE or wanted.expiring_within is not None:
        conditions += [c.status == "active", c.not_after > moment]
    if wanted.expiring_within is not None:
        conditions.append(c.not_after <= moment + wanted.expiring_within)
    order = [c.not_after, c.serial] if wanted.sorting is Sorting.EXPIRY else [c.serial]
    query = select(*_COLUMNS).where(*conditions).order_by(*order).limit(min(wanted.limit, MOST))
    return [Row(*row) for row in connection.execute(query)]


def _following(
    connection: Connection, wanted: Filter, seen: list[ColumnElement[bool]]
) -> list[ColumnElement[bool]]:
    """Return the conditions of what is behind the page before. A serial that can't be on that page,
    such as another domain's, has nothing behind it: when it expires isn't told (I12)."""
    c = certificates.c
    if not wanted.after or wanted.sorting is Sorting.SERIAL:
        return [c.serial > wanted.after]
    query = select(c.not_after).where(c.serial == wanted.after, *seen)
    ended = connection.execute(query).scalar_one_or_none()
    if ended is None:
        return [false()]
    later = or_(c.not_after > ended, and_(c.not_after == ended, c.serial > wanted.after))
    return [c.not_after >= ended, later]


def list_successors(connection: Connection, holder: Identity, serial: str) -> list[str]:
    """Return the serials of the certificates that renew the one of `serial`."""
    c = certificates.c
    query = select(c.serial).where(
        c.domain == holder.domain, c.name == holder.name, c.predecessor == serial
    )
    return list(connection.execute(query.order_by(c.created_at, c.serial)).scalars())


def find_last_use(connection: Connection, client_id: str, fingerprint: bytes) -> datetime | None:
    """Return when the certificate of this fingerprint has last sent one of the client's latest
    messages."""
    m = messages.c
    latest = (
        select(m.created_at, m.cert_fingerprint)
        .where(m.client_id == client_id)
        .order_by(m.message_id.desc())
        .limit(LATEST)
        .subquery()
    )
    query = select(func.max(latest.c.created_at))
    mine = query.where(latest.c.cert_fingerprint == fingerprint)
    found: datetime | None = connection.execute(mine).scalar_one()
    return found


def find_by_key(connection: Connection, public_key: bytes) -> Row | None:
    """Return the active certificate of a key, if it is one of ours."""
    c = certificates.c
    is_it = (c.public_key == public_key, c.status == "active", c.anchor.is_(None))
    query = select(*_COLUMNS).where(*is_it).limit(1)
    row = connection.execute(query).one_or_none()
    return Row(*row) if row else None
