"""Renewal by the holder: a new key, the same identity, from two thirds of the life on.

The old certificate goes on until it expires: both are good meanwhile. When its intermediate is
being replaced, the certificate may be renewed at once. A repeated request is given the same
certificate.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from cryptography import x509
from sqlalchemy import Connection, Engine

from gatepost.errors import (
    BadOrder,
    BadSigningRequest,
    KeyUsedBefore,
    NotFound,
    NotYet,
    UnknownCertificate,
)
from gatepost.trust.certificates import find_extension, key_of, read_certificate
from gatepost.trust.identity import Identity, Role
from gatepost.wire.renewal import is_signed_by, renewable_from
from main_server.ca.authorities import Authorities
from main_server.ca.authority import Order, Usage
from main_server.ca.csr import key_for, read_csr
from main_server.ca.keys import PublicKey, check_key, key_digest
from main_server.ca.list_repository import Filter, Row, Status, find_by_key, list_rows
from main_server.ca.parts import hosts_of
from main_server.ca.profiles import PROFILES, make_order
from main_server.ca.repository import count_active, count_held
from main_server.ca.revoked.repository import Selection
from main_server.ca.service import Cause, Certified, certify, given_again
from main_server.store.database import transact
from main_server.tenants.clients.service import ensure

MOST_ACTIVE = 20
"""The number of good certificates that one holder may have, for both usages, from one intermediate:
while that is replaced all of them are needed twice. One is enough, and two while they overlap;
several machines may share a name."""


@dataclass(frozen=True, slots=True)
class Renewal:
    """A holder's wish to renew: the certificate's fingerprint, the request for the new one, and the
    old key's signature."""

    fingerprint: str
    csr: bytes
    signature: bytes
    usage: Usage | None = None


def renew(
    engine: Engine, authorities: Authorities, asked: Renewal, caller: Identity, now: datetime
) -> Certified:
    held, leaf = _held(engine, asked, caller, now)
    if not is_signed_by(leaf, asked.signature, asked.csr):
        raise BadSigningRequest("It is not signed by the key of the certificate that is renewed.")
    row, old = _model(engine, held, leaf, asked.usage, now)
    order = order_like(row.identity, old)
    key = key_for(read_csr(asked.csr), order)
    if (before := _given_before(engine, authorities, held, order, key)) is not None:
        return before
    if key_digest(key) == key_digest(check_key(key_of(leaf))):
        raise KeyUsedBefore()
    due, authority = renewable_from(old), authorities.signing
    if now < due and row.issuer == authority.kid:
        raise NotYet(f"It can be renewed from {due:%Y-%m-%d %H:%M} UTC on.")
    if row.identity.role is Role.CLIENT:
        ensure(engine, row.identity, now)
    cause = Cause(row.identity.uri, "certificate.renewed", row.serial)
    claim = partial(_claim, {held.serial, row.serial}, row.identity, authority.kid, now)
    return certify(engine, authority, order, key, now, cause, claim)


def _claim(
    serials: Collection[str],
    holder: Identity,
    issuer: str,
    now: datetime,
    connection: Connection,
    _new: str,
) -> None:
    """Refuse a holder who was revoked meanwhile, or who heaps certificates up."""
    if count_active(connection, serials) != len(serials):
        raise UnknownCertificate()
    if count_held(connection, holder, issuer, now) >= MOST_ACTIVE:
        words = f"You have {MOST_ACTIVE} certificates that are good: let some expire"
        raise NotYet(f"{words}, or ask an administrator to revoke those that are nobody's.")


def _held(
    engine: Engine, asked: Renewal, caller: Identity, now: datetime
) -> tuple[Row, x509.Certificate]:
    """Return the certificate that is shown. A proxy may bring that of a client."""
    wanted = Filter(Selection(fingerprint=asked.fingerprint), Status.ACTIVE)
    rows = transact(engine, partial(list_rows, wanted=wanted, now=now))
    if not rows or rows[0].der is None:
        raise UnknownCertificate()
    brought = caller.role is Role.PROXY and rows[0].identity.role is Role.CLIENT
    if rows[0].identity != caller and not brought:
        raise UnknownCertificate()
    if rows[0].anchor is not None:
        raise BadOrder("It is of your own CA: renew it there, and have the new one registered.")
    return rows[0], read_certificate(rows[0].der)


def _model(
    engine: Engine, held: Row, leaf: x509.Certificate, usage: Usage | None, now: datetime
) -> tuple[Row, x509.Certificate]:
    """Return what the new certificate is to be like: the one shown, or the holder's latest of
    another usage."""
    if usage is None or usage is _usage(leaf):
        return held, leaf
    who = held.identity
    where = Selection(domain=who.domain, role=who.role, name=who.name)
    rows = transact(engine, partial(list_rows, wanted=Filter(where, Status.ACTIVE), now=now))
    pairs = [(row, read_certificate(row.der)) for row in rows if row.der]
    fitting = [(row, one) for row, one in pairs if _usage(one) is usage]
    if not fitting:
        raise NotFound(f"You have no certificate for {usage.name.lower()} that could be renewed.")
    return max(fitting, key=lambda pair: pair[0].not_after)


def _usage(certificate: x509.Certificate) -> Usage:
    uses = find_extension(certificate, x509.ExtendedKeyUsage)
    if uses is None:
        raise BadOrder("It doesn't say what it is for: have a new one issued.")
    return Usage(next(iter(uses)))


def order_like(identity: Identity, old: x509.Certificate) -> Order:
    """Return an order for what the old certificate says; a life that was given shorter stays so."""
    life = old.not_valid_after_utc - old.not_valid_before_utc
    whole = timedelta(seconds=round(life.total_seconds()))
    lifetime = min(whole, PROFILES[identity.role].lifetime)
    return make_order(identity, _usage(old), hosts_of(old), lifetime)


def _given_before(
    engine: Engine, authorities: Authorities, held: Row, order: Order, key: PublicKey
) -> Certified | None:
    """Return the certificate of an answer that was lost; who asks again still shows what was shown
    then."""
    found = transact(engine, partial(find_by_key, public_key=key_digest(key)))
    if found is None or found.serial == held.serial or found.identity != order.identity:
        return None
    again = given_again(authorities, found.der) if found.der else None
    return again if again and _usage(again.certificate) is order.usage else None
