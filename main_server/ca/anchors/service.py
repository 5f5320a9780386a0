"""Add and remove trust anchors, and register certificates of theirs.

An unknown certificate is refused, whoever signed it: an anchor by itself lets nobody in. What is
registered is revoked as ours are, and with its anchor all of it is (I8). All of it is in the audit
log.
"""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

from sqlalchemy import Connection, Engine

from gatepost.clock import iso, to_ms
from gatepost.errors import Invalid, KeyUsedBefore, NotFound
from gatepost.trust.certificates import key_of, read_certificates
from gatepost.trust.identity import INFRASTRUCTURE_DOMAIN, Identity
from gatepost.trust.revocation import Reason
from main_server.audit import repository as audit
from main_server.audit.chain import SYSTEM, Entry
from main_server.ca.anchors import repository
from main_server.ca.anchors.repository import Anchor, Foreign
from main_server.ca.anchors.rules import make_anchor, make_foreign, read_one
from main_server.ca.authority import Authority
from main_server.ca.founding import read_pins
from main_server.ca.profiles import make_order
from main_server.ca.repository import is_key_known
from main_server.ca.revocation import Revocation, revoke_in
from main_server.ca.revoked.repository import Selection, find_states, lock_number
from main_server.store.database import transact
from main_server.tenants.clients.service import ensure
from main_server.tenants.domains.repository import has_domain
from main_server.tenants.names import check_names


def add(
    engine: Engine, folder: Path, domain: str, pem: bytes, now: datetime, actor: str = SYSTEM
) -> Anchor:
    """Add a trust anchor; `folder` is that of our CA. A newer certificate of the same key makes no
    other anchor."""
    certificate = read_one(pem)
    check_names(domain)
    ours = read_certificates(read_pins(folder))
    if any(key_of(one) == key_of(certificate) for one in ours):
        raise Invalid("It is ours.")

    def work(connection: Connection) -> Anchor:
        lock_number(connection)
        if domain == INFRASTRUCTURE_DOMAIN or not has_domain(connection, domain):
            raise NotFound(f"There is no domain {domain} of a partner.")
        others = [one.certificate for one in repository.list_anchors(connection)]
        made = make_anchor(certificate, domain, [*ours, *others], now)
        before = repository.find_anchor(connection, made.anchor)
        if before is not None and before.domain != domain:
            raise Invalid("It is bound to another domain: a CA can't be that of two.")
        repository.put_anchor(connection, made)
        _tell(connection, "anchor.added", made, now, actor)
        return made

    return transact(engine, work)


def remove(
    engine: Engine,
    authorities: Sequence[Authority],
    anchor: str,
    now: datetime,
    actor: str = SYSTEM,
) -> Revocation:
    """Remove an anchor, and revoke all that it has signed in the same transaction."""
    key = _parse(anchor)

    def work(connection: Connection) -> Revocation:
        lock_number(connection)
        found = repository.find_anchor(connection, key)
        if found is None or found.removed_at is not None:
            raise NotFound("There is no such trust anchor.")
        repository.remove_anchor(connection, key, now)
        why, which = Reason.CESSATION_OF_OPERATION, Selection(anchor=key, domain=found.domain)
        done = revoke_in(connection, authorities, which, why, now, actor)
        _tell(connection, "anchor.removed", found, now, actor)
        return done

    return transact(engine, work)


def register(
    engine: Engine, identity: Identity, pem: bytes, now: datetime, actor: str = SYSTEM
) -> Foreign:
    """Make a certificate known as that client's. The client is there from now on, with the usual
    limits."""
    certificate = read_one(pem)
    make_order(identity)
    anchors = transact(engine, partial(repository.list_anchors, domain=identity.domain))
    one = make_foreign(certificate, identity, anchors, now)
    ensure(engine, identity, now, actor)

    def work(connection: Connection) -> Foreign:
        lock_number(connection)
        anchor = repository.find_anchor(connection, one.anchor)
        if anchor is None or anchor.removed_at is not None:
            raise Invalid("Its trust anchor was removed.")
        if state := find_states(connection, [one.serial]).get(one.serial):
            raise Invalid(f"It is in the ledger already: {state.status}.")
        if is_key_known(connection, one.public_key):
            raise KeyUsedBefore()
        repository.record_foreign(connection, one, now, actor)
        details = {
            "serial": one.serial,
            "fingerprint": one.fingerprint.hex(),
            "anchor": anchor.id,
            "not_after": iso(to_ms(one.not_after)),
        }
        entry = Entry(actor, "certificate.registered", identity.uri, identity.domain, details)
        audit.append(connection, entry, now)
        return one

    return transact(engine, work)


def describe(anchor: Anchor) -> dict[str, str]:
    return {
        "anchor": anchor.id,
        "domain": anchor.domain,
        "subject": anchor.certificate.subject.rfc4514_string(),
        "not_after": iso(to_ms(anchor.not_after)),
    }


def _tell(connection: Connection, action: str, anchor: Anchor, now: datetime, actor: str) -> None:
    told = describe(anchor)
    entry = Entry(actor, action, f"anchor {anchor.id}", anchor.domain, told)
    audit.append(connection, entry, now)


def _parse(anchor: str) -> bytes:
    try:
        return bytes.fromhex(anchor)
    except ValueError:
        raise NotFound("There is no such trust anchor.") from None
