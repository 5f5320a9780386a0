"""SQL for trust anchors, and for certificates that they have signed.

An anchor is its key: a row is never deleted, so that none is ever another domain's.
"""

from dataclasses import dataclass
from datetime import datetime

from cryptography import x509
from sqlalchemy import Connection, select, update
from sqlalchemy.dialects.mysql import insert

from gatepost.clock import from_ms, to_ms
from gatepost.trust.certificates import read_certificate
from gatepost.trust.identity import Identity
from main_server.store.tables import certificates, trust_anchors


@dataclass(frozen=True, slots=True)
class Anchor:
    """A trust anchor; `anchor` is the SHA-256 of its public key."""

    anchor: bytes
    domain: str
    der: bytes
    not_after: datetime
    created_at: datetime
    removed_at: datetime | None

    @property
    def id(self) -> str:
        return self.anchor.hex()

    @property
    def certificate(self) -> x509.Certificate:
        return read_certificate(self.der)


@dataclass(frozen=True, slots=True)
class Foreign:
    """A certificate to be registered; `serial` is the number that our lists would name it by."""

    serial: str
    identity: Identity
    fingerprint: bytes
    public_key: bytes
    not_before: datetime
    not_after: datetime
    anchor: bytes
    der: bytes


_T = trust_anchors.c
_COLUMNS = [_T[name] for name in Anchor.__slots__]


def find_anchor(connection: Connection, anchor: bytes, *, lock: bool = False) -> Anchor | None:
    query = select(*_COLUMNS).where(_T.anchor == anchor)
    row = connection.execute(query.with_for_update() if lock else query).one_or_none()
    return Anchor(*row) if row else None


def list_anchors(connection: Connection, domain: str | None = None) -> list[Anchor]:
    """List the anchors that are trusted."""
    query = select(*_COLUMNS).where(_T.removed_at.is_(None)).order_by(_T.domain, _T.anchor)
    if domain is not None:
        query = query.where(_T.domain == domain)
    return [Anchor(*row) for row in connection.execute(query)]


def put_anchor(connection: Connection, anchor: Anchor) -> None:
    """Store an anchor that is new, is trusted again, or has a newer certificate of the same key."""
    values = {name: getattr(anchor, name) for name in Anchor.__slots__}
    statement = insert(trust_anchors).values(values)
    again = {name: values[name] for name in ("der", "not_after", "removed_at")}
    connection.execute(statement.on_duplicate_key_update(**again))


def remove_anchor(connection: Connection, anchor: bytes, now: datetime) -> None:
    statement = update(trust_anchors).where(_T.anchor == anchor)
    connection.execute(statement.values(removed_at=from_ms(to_ms(now))))


def record_foreign(connection: Connection, one: Foreign, now: datetime, actor: str) -> None:
    who = one.identity
    connection.execute(
        insert(certificates).values(
            serial=one.serial,
            domain=who.domain,
            role=who.role.value,
            name=who.name,
            status="active",
            fingerprint=one.fingerprint,
            not_before=from_ms(to_ms(one.not_before)),
            not_after=from_ms(to_ms(one.not_after)),
            created_at=from_ms(to_ms(now)),
            public_key=one.public_key,
            der=one.der,
            anchor=one.anchor,
            used_for="client",
            origin="registered",
            actor=actor,
        )
    )
