"""The requests that a shell and an administrator alike can make of the CA, and what comes of
them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from sqlalchemy import Connection, Engine

from gatepost.errors import BadOrder, Invalid, NotFound
from gatepost.trust.certificates import read_certificate
from gatepost.trust.identity import Identity, Role
from main_server.audit.chain import SYSTEM
from main_server.ca import repository
from main_server.ca.authority import Authority, Order, Usage
from main_server.ca.csr import key_for, read_csr
from main_server.ca.holders import find_holder
from main_server.ca.list_repository import Row
from main_server.ca.profiles import make_order
from main_server.ca.renewal import order_like
from main_server.ca.revoked.repository import Selection
from main_server.ca.service import Cause, Certified, Claim, anybody, certify, issue
from main_server.store.database import transact
from main_server.tenants.clients.service import ensure
from main_server.tenants.domains.repository import has_domain

_NOT_GOOD = "It was revoked, is on hold, or was never finished: issue a new one instead."


@dataclass(frozen=True, slots=True)
class Asked:
    """A certificate that somebody asks for. Without a request, the key is made here."""

    identity: Identity
    usage: Usage | None = None
    hosts: Sequence[str] = ()
    lifetime: timedelta | None = None
    csr: bytes | None = None


def grant(
    engine: Engine, authority: Authority, asked: Asked, now: datetime, actor: str = SYSTEM
) -> Certified:
    """Return the certificate that was asked for; an Issued if the key was made here."""
    order = make_order(asked.identity, asked.usage, asked.hosts, asked.lifetime)
    return _give(engine, authority, order, asked.csr, now, Cause(actor))


def succeed(
    engine: Engine,
    authority: Authority,
    row: Row,
    csr: bytes | None,
    now: datetime,
    actor: str = SYSTEM,
) -> Certified:
    """Return a new certificate like one that is good or has expired, at any time: somebody answers
    for it who might issue one anyway. What was taken from its holder is not given back like
    this."""
    if row.der is None:
        raise Invalid(_NOT_GOOD)
    if row.anchor is not None:
        raise BadOrder("It is of a CA that isn't ours: its holder renews it there.")
    order = order_like(row.identity, read_certificate(row.der))

    def claim(connection: Connection, _serial: str) -> None:
        if not repository.count_active(connection, [row.serial]):
            raise Invalid(_NOT_GOOD)

    cause = Cause(actor, "certificate.renewed", row.serial)
    return _give(engine, authority, order, csr, now, cause, claim)


def _give(
    engine: Engine,
    authority: Authority,
    order: Order,
    csr: bytes | None,
    now: datetime,
    cause: Cause,
    claim: Claim = anybody,
) -> Certified:
    key = key_for(read_csr(csr), order) if csr is not None else None
    if not transact(engine, partial(has_domain, domain=order.identity.domain)):
        raise NotFound(f"There is no domain {order.identity.domain}.")
    if order.identity.role is Role.CLIENT:
        ensure(engine, order.identity, now, cause.actor)
    if key is None:
        return issue(engine, authority, order, now, cause, claim)
    return certify(engine, authority, order, key, now, cause, claim)


def select(
    engine: Engine,
    name: str | None,
    serial: str | None,
    fingerprint: str | None,
    role: Role | None = None,
    within: str | None = None,
) -> Selection:
    """Return a selection by exactly one of name, serial and fingerprint; in one domain only, if one
    is given."""
    if sum(one is not None for one in (name, serial, fingerprint)) != 1:
        raise Invalid("Say which: by a name, a serial or a fingerprint.")
    if name is not None:
        domain, holder = find_holder(engine, name, within)
        return Selection(domain=domain, role=role, name=holder)
    return Selection(
        serial=_hex(serial, 32) if serial is not None else None,
        fingerprint=_hex(fingerprint, 64) if fingerprint is not None else None,
        role=role,
        domain=within,
    )


def _hex(text: str, digits: int) -> str:
    """Read hex digits as openssl and browsers write them, too: upper-case, with colons."""
    plain = text.replace(":", "").lower()
    if not plain or len(plain) > digits or not set(plain) <= set("0123456789abcdef"):
        raise Invalid(f"A serial or a fingerprint is up to {digits} hex digits.")
    return plain.rjust(digits, "0")
