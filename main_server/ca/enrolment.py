"""Enrol clients: one token, one certificate, for a key that never travels.

A token is used up by a certificate that was made, and by nothing else. Whoever has lost the answer
repeats the same request, and is given the same certificate.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from sqlalchemy import Connection, Engine

from gatepost.clock import iso, to_ms
from gatepost.errors import Invalid, NotFound, RevokedCertificate, TokenRefused
from gatepost.trust.identity import Identity
from gatepost.wire.enrolment import Token, is_signed, new_token, token_hash
from main_server.audit import repository as audit
from main_server.audit.chain import SYSTEM, Entry
from main_server.ca import token_repository as repository
from main_server.ca.authorities import Authorities
from main_server.ca.csr import key_for, read_csr
from main_server.ca.keys import PublicKey, key_digest
from main_server.ca.profiles import make_order
from main_server.ca.revoked.repository import may_still_administer
from main_server.ca.service import Cause, Certified, certify, given_again
from main_server.ca.token_repository import Kept
from main_server.store.database import transact
from main_server.tenants.clients.service import ensure

SHORTEST, USUAL, LONGEST = timedelta(minutes=1), timedelta(hours=1), timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Enrolment:
    """A partner's request for a certificate, made with the token that it was given."""

    public_key: bytes
    signature: bytes
    csr: bytes


def make_token(
    engine: Engine,
    identity: Identity,
    root: x509.Certificate,
    lifetime: timedelta,
    now: datetime,
    actor: str = SYSTEM,
) -> Token:
    """Make a token, which is shown once and kept nowhere. The client is there from now on, with the
    usual limits."""
    if not SHORTEST <= lifetime <= LONGEST:
        raise Invalid(f"A token lives between 1 minute and {LONGEST.days} days.")
    make_order(identity)
    ensure(engine, identity, now, actor)
    token = new_token(root.public_bytes(Encoding.DER))
    digest, until = token_hash(token.public_key), now + lifetime

    def work(connection: Connection) -> None:
        if not may_still_administer(connection, actor):
            raise RevokedCertificate()
        repository.add_token(connection, digest, identity, now, until, actor)
        details = {"token": digest.hex(), "expires_at": iso(to_ms(until))}
        entry = Entry(actor, "token.created", identity.uri, identity.domain, details)
        audit.append(connection, entry, now)

    transact(engine, work)
    return token


def withdraw(
    engine: Engine, digest: bytes, within: str | None, now: datetime, actor: str = SYSTEM
) -> None:
    def work(connection: Connection) -> None:
        kept = repository.find_token(connection, digest, lock=True)
        if kept is None or within not in (None, kept.domain):
            raise NotFound("There is no such token.")
        repository.withdraw_token(connection, digest, now)
        entry = Entry(actor, "token.withdrawn", kept.identity.uri, kept.domain)
        audit.append(connection, entry, now)

    transact(engine, work)


def enrol(engine: Engine, authorities: Authorities, asked: Enrolment, now: datetime) -> Certified:
    if not is_signed(asked.public_key, asked.signature, asked.csr):
        raise TokenRefused()
    digest = token_hash(asked.public_key)
    kept = transact(engine, partial(repository.find_token, digest=digest))
    if kept is None:
        raise TokenRefused()
    order = make_order(kept.identity)
    key = key_for(read_csr(asked.csr), order)
    if (before := _given_before(engine, authorities, kept, key)) is not None:
        return before
    ensure(engine, kept.identity, now)
    cause = Cause(f"token:{digest.hex()[:16]}", "certificate.enrolled")
    claim = partial(_use, digest, now)
    return certify(engine, authorities.signing, order, key, now, cause, claim)


def _given_before(
    engine: Engine, authorities: Authorities, kept: Kept, key: PublicKey
) -> Certified | None:
    if kept.serial is None:
        return None
    serial, wanted = kept.serial, key_digest(key)
    der = transact(engine, lambda c: repository.find_der(c, serial, wanted))
    return given_again(authorities, der) if der else None


def _use(digest: bytes, now: datetime, connection: Connection, serial: str) -> None:
    """Use the token for that certificate. If two come at once, the first whose certificate counts
    has it; one that was interrupted before its certificate counted leaves the token good."""
    kept = repository.find_token(connection, digest)
    if kept is None or kept.withdrawn_at is not None or to_ms(kept.expires_at) <= to_ms(now):
        raise TokenRefused()
    if kept.serial is not None and not repository.is_intended(connection, kept.serial):
        raise TokenRefused()
    repository.use_token(connection, digest, serial, now)
