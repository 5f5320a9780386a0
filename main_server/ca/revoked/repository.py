"""SQL for revocation: marking certificates, the number of the state, and the lists published.

Every writer locks the one row of `revocation_state` first, so numbers and lists follow each other.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, or_, select, update
from sqlalchemy.dialects.mysql import insert

from gatepost.clock import from_ms, to_ms
from gatepost.trust.identity import INFRASTRUCTURE_DOMAIN, Identity, Role, parse_uri
from gatepost.trust.revocation import Reason, Revocations
from main_server.ca.crl import Crl, Entry
from main_server.store.tables import certificates, crls, revocation_state

CRL_KEPT = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Selection:
    """A choice of certificates by any of these fields; all that are given must fit."""

    serial: str | None = None
    fingerprint: str | None = None
    domain: str | None = None
    role: Role | None = None
    name: str | None = None
    issuer: str | None = None
    anchor: bytes | None = None

    def __str__(self) -> str:
        if self.issuer or self.anchor:
            return (
                f"issuer {self.issuer}" if self.issuer else f"anchor {(self.anchor or b'').hex()}"
            )
        if self.serial or self.fingerprint:
            return f"serial {self.serial}" if self.serial else f"fingerprint {self.fingerprint}"
        return "/".join(part for part in (self.domain, self.role, self.name) if part)

    @property
    def client(self) -> Identity | None:
        """The client whose certificates are meant, if it is all of them."""
        return self._named(Role.CLIENT)

    @property
    def administrator(self) -> Identity | None:
        """The administrator whose certificates are meant, if it is all of them."""
        return self._named(Role.ADMIN)

    def _named(self, role: Role) -> Identity | None:
        if (
            any((self.serial, self.fingerprint, self.issuer, self.anchor))
            or self.domain is None
            or self.name is None
            or self.role not in (None, role)
        ):
            return None
        return Identity(self.domain, role, self.name)

    def condition(self) -> ColumnElement[bool]:
        c = certificates.c
        wanted = {
            c.serial: self.serial,
            c.fingerprint: None if self.fingerprint is None else bytes.fromhex(self.fingerprint),
            c.domain: self.domain,
            c.role: self.role.value if self.role else None,
            c.name: self.name,
            c.issuer: self.issuer,
            c.anchor: self.anchor,
        }
        given = [column == value for column, value in wanted.items() if value is not None]
        if not given:
            raise ValueError("a selection must name something")
        return and_(*given)

    def condition_of_change(self) -> ColumnElement[bool]:
        """Return the condition for a change; raise ValueError if it names no more than a role:
        nobody means all that have a role."""
        if self == Selection(role=self.role):
            raise ValueError("what changes must be named by more than a role")
        return self.condition()


@dataclass(frozen=True, slots=True)
class State:
    """A certificate's status in the ledger, and the number that it has had it since; 0 if it was
    never revoked."""

    status: str
    number: int


@dataclass(frozen=True, slots=True)
class Forgotten:
    """A revoked certificate that only a list tells of: whose it was isn't known."""

    serial: str
    issuer: str
    reason: Reason
    revoked_at: datetime
    not_after: datetime


def lock_number(connection: Connection) -> int:
    query = select(revocation_state.c.number).with_for_update()
    return int(connection.execute(query).scalar_one())


def read_number(connection: Connection) -> int:
    return int(connection.execute(select(revocation_state.c.number)).scalar_one())


def store_number(connection: Connection, number: int, now: datetime) -> None:
    connection.execute(update(revocation_state).values(number=number, changed_at=_kept(now)))


def read_revocations(connection: Connection) -> Revocations:
    """Read what is revoked, in one statement: a list and the number of another state must not
    meet."""
    query = select(revocation_state.c.number, crls.c.der)
    rows = connection.execute(
        query.select_from(revocation_state.outerjoin(crls, revocation_state.c.one == 1)).order_by(
            crls.c.issuer
        )
    ).all()
    return Revocations(rows[0].number, [row.der for row in rows if row.der is not None])


def mark_revoked(
    connection: Connection, selection: Selection, reason: Reason, number: int, now: datetime
) -> list[str]:
    """Revoke or hold the selected certificates, and return their serials; what is revoked already
    stays as it is."""
    serials = list_revocable(connection, selection, reason, lock=True)
    connection.execute(
        update(certificates)
        .where(certificates.c.serial.in_(serials))
        .values(
            status="held" if reason is Reason.CERTIFICATE_HOLD else "revoked",
            revoked_at=_kept(now),
            revocation_reason=reason.value,
            revocation_number=number,
        )
    )
    return serials


def list_revocable(
    connection: Connection, selection: Selection, reason: Reason, *, lock: bool = False
) -> list[str]:
    """Return the serials that `mark_revoked` would change."""
    c = certificates.c
    holding = reason is Reason.CERTIFICATE_HOLD
    changeable = ("active",) if holding else ("intended", "active", "held")
    where = (selection.condition_of_change(), c.status.in_(changeable))
    query = select(c.serial).where(*where).order_by(c.serial)
    return list(connection.execute(query.with_for_update() if lock else query).scalars())


def list_administrators(connection: Connection, serials: Collection[str]) -> list[Identity]:
    """Return the administrators whose certificates are among these."""
    c = certificates.c
    query = select(c.domain, c.name).where(c.serial.in_(serials), c.role == Role.ADMIN.value)
    rows = connection.execute(query.distinct().order_by(c.domain, c.name))
    return [Identity(row.domain, Role.ADMIN, row.name) for row in rows]


def may_still_administer(connection: Connection, actor: str) -> bool:
    """Tell whether an administrator who goes by a certificate has one that counts, until this
    transaction ends: a revocation waits for it, or is waited for. Other actors go by none, and
    may."""
    if f"/{Role.ADMIN.value}/" not in actor:
        return True
    holder, c = parse_uri(actor), certificates.c
    mine = (c.domain == holder.domain, c.role == holder.role.value, c.name == holder.name)
    query = select(c.serial).where(*mine, c.status == "active").with_for_update(read=True)
    return connection.execute(query).first() is not None


def mark_released(connection: Connection, selection: Selection, number: int) -> list[str]:
    """End the hold of the selected certificates, and return their serials."""
    c = certificates.c
    query = (
        select(c.serial)
        .where(selection.condition_of_change(), c.status == "held")
        .order_by(c.serial)
        .with_for_update()
    )
    serials = list(connection.execute(query).scalars())
    connection.execute(
        update(certificates)
        .where(c.serial.in_(serials))
        .values(status="active", revoked_at=None, revocation_reason=None, revocation_number=number)
    )
    return serials


def find_states(connection: Connection, serials: Collection[str]) -> dict[str, State]:
    c = certificates.c
    query = select(c.serial, c.status, c.revocation_number).where(c.serial.in_(serials))
    return {row.serial: State(row.status, row.revocation_number or 0)
            for row in connection.execute(query)}  # fmt: skip


def record_forgotten(connection: Connection, one: Forgotten, number: int, now: datetime) -> None:
    """Record a certificate for the lists alone: nobody can call anything with it."""
    connection.execute(
        insert(certificates).values(
            serial=one.serial,
            issuer=one.issuer,
            domain=INFRASTRUCTURE_DOMAIN,
            role="forgotten",
            name="-",
            status="held" if one.reason is Reason.CERTIFICATE_HOLD else "revoked",
            not_before=_kept(one.revoked_at),
            not_after=_kept(one.not_after),
            created_at=_kept(now),
            revoked_at=_kept(one.revoked_at),
            revocation_reason=one.reason.value,
            revocation_number=number,
        )
    )


def list_revoked(
    connection: Connection, issuer: str, now: datetime, *, alone: bool = False
) -> list[Entry]:
    """List an issuer's certificates that are revoked or held and haven't expired.

    Certificates of CAs that aren't ours are on every list, unless it is to be the issuer's `alone`:
    a last list can't let go of what was held. Those whose issuer isn't known are on every list.
    """
    query = _revoked(issuer).where(certificates.c.not_after > _kept(now))
    if alone:
        query = query.where(certificates.c.anchor.is_(None))
    return [_entry(*row) for row in connection.execute(query.order_by(certificates.c.serial))]


def find_revoked(connection: Connection, issuer: str, serial: str) -> Entry | None:
    """Return what that issuer's lists say of a certificate, or said before it expired."""
    row = connection.execute(_revoked(issuer).where(certificates.c.serial == serial)).one_or_none()
    return _entry(*row) if row else None


def _revoked(issuer: str) -> Select[Any]:
    c = certificates.c
    return select(c.serial, c.revocation_reason, c.revoked_at).where(
        c.status.in_(("revoked", "held")), or_(c.issuer == issuer, c.issuer.is_(None))
    )


def read_crl(connection: Connection, issuer: str) -> Crl | None:
    query = select(
        crls.c.issuer, crls.c.number, crls.c.der, crls.c.this_update, crls.c.next_update
    ).where(crls.c.issuer == issuer)
    row = connection.execute(query).one_or_none()
    if row is None:
        return None
    return Crl(row.issuer, row.number, row.der, _utc(row.this_update), _utc(row.next_update))


def store_crl(connection: Connection, crl: Crl) -> None:
    values = {
        "number": crl.number,
        "der": crl.der,
        "this_update": _kept(crl.this_update),
        "next_update": _kept(crl.next_update),
    }
    statement = insert(crls).values(issuer=crl.issuer, **values)
    connection.execute(statement.on_duplicate_key_update(**values))


def drop_old_crls(connection: Connection, now: datetime) -> None:
    """Delete the lists of intermediates that nobody can trust any more."""
    connection.execute(crls.delete().where(crls.c.next_update < _kept(now - CRL_KEPT)))


def _entry(serial: str, reason: str | None, revoked_at: datetime | None) -> Entry:
    """Make an entry of a row; rows that were revoked before there were reasons and times have
    none."""
    when = _utc(revoked_at) if revoked_at else datetime(2000, 1, 1, tzinfo=UTC)
    return Entry(int(serial, 16), Reason(reason or Reason.UNSPECIFIED), when.replace(microsecond=0))


def _utc(kept: datetime) -> datetime:
    return kept.replace(tzinfo=UTC)


def _kept(moment: datetime) -> datetime:
    return from_ms(to_ms(moment))
