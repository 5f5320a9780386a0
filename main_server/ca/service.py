"""Issue certificates: serial and intent are in the ledger before the signature is made.

A certificate that was signed but never recorded would be one that nobody can revoke. The audit log
tells of it in the same transaction as the intent.

Whoever issues locks the revocation number, as whoever revokes does: one comes after the other, and
the later one sees what the earlier one did.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from sqlalchemy import Connection, Engine

from gatepost.clock import iso, to_ms
from gatepost.errors import KeyUsedBefore, RevokedCertificate
from gatepost.trust.certificates import read_certificate
from main_server.audit import repository as audit
from main_server.audit.chain import SYSTEM, Entry
from main_server.ca import repository
from main_server.ca.authorities import Authorities
from main_server.ca.authority import Authority, Order, new_key, new_serial
from main_server.ca.keys import PublicKey, key_digest
from main_server.ca.parts import key_to_pem
from main_server.ca.repository import Intent
from main_server.ca.revoked.repository import lock_number
from main_server.store.database import transact

Claim = Callable[[Connection, str], None]
"""A function that raises if nobody may be given the certificate of this serial after all. It is
called with the intent, and once more before the certificate counts; for one serial at a time."""


def anybody(_connection: Connection, _serial: str) -> None:
    """Let anybody be given the certificate: the claim of those who need none."""


@dataclass(frozen=True, slots=True)
class Cause:
    """The cause of a certificate: by whom and how it came to be; `predecessor` is the serial of
    what it renews."""

    actor: str = SYSTEM
    action: str = "certificate.issued"
    predecessor: str | None = None

    @property
    def origin(self) -> str:
        """One of issued, enrolled and renewed."""
        return self.action.removeprefix("certificate.")


BY_ITSELF = Cause()


@dataclass(frozen=True, slots=True)
class Certified:
    """A certificate, and the chain that its holder shows."""

    certificate: x509.Certificate
    chain_pem: bytes

    @property
    def serial(self) -> str:
        return f"{self.certificate.serial_number:032x}"

    @property
    def fingerprint(self) -> str:
        return self.certificate.fingerprint(SHA256()).hex()


@dataclass(frozen=True, slots=True)
class Issued(Certified):
    """A certificate with a key that was made here, and is kept nowhere."""

    key_pem: bytes


def issue(
    engine: Engine,
    authority: Authority,
    order: Order,
    now: datetime,
    cause: Cause = BY_ITSELF,
    claim: Claim = anybody,
) -> Issued:
    key = new_key()
    made = certify(engine, authority, order, key.public_key(), now, cause, claim)
    return Issued(made.certificate, made.chain_pem, key_to_pem(key))


def certify(
    engine: Engine,
    authority: Authority,
    order: Order,
    key: PublicKey,
    now: datetime,
    cause: Cause = BY_ITSELF,
    claim: Claim = anybody,
) -> Certified:
    """Issue a certificate for somebody's own key; raise KeyUsedBefore if any certificate ever had
    it."""
    serial = new_serial()
    ends = authority.ends_at(order, now)
    why = (cause.origin, cause.actor, cause.predecessor)
    intent = Intent(f"{serial:032x}", authority.kid, order, key_digest(key), now, ends, *why)
    entry = Entry(cause.actor, cause.action, *_told(intent))
    transact(engine, lambda c: _record(c, intent, entry, claim))
    certificate = authority.sign(order, key, serial, now)
    made = Certified(certificate, authority.chain(certificate))
    transact(engine, lambda c: _activate(c, intent, made, claim))
    return made


def given_again(authorities: Authorities, der: bytes) -> Certified | None:
    """Return a certificate again, below the intermediate that signed it, which may have been
    replaced; None if that is gone."""
    certificate = read_certificate(der)
    issuer = authorities.issuer_of(certificate)
    return Certified(certificate, issuer.chain(certificate)) if issuer else None


def _record(connection: Connection, intent: Intent, entry: Entry, claim: Claim) -> None:
    lock_number(connection)
    claim(connection, intent.serial)
    if repository.is_key_known(connection, intent.public_key):
        raise KeyUsedBefore()
    repository.record_intent(connection, intent)
    audit.append(connection, entry, intent.now)


def _activate(connection: Connection, intent: Intent, made: Certified, claim: Claim) -> None:
    """Activate the certificate; if several intents are for one key, the first to come here has
    it."""
    lock_number(connection)
    claim(connection, intent.serial)
    if repository.is_key_known(connection, intent.public_key, but=intent.serial):
        raise KeyUsedBefore()
    digest, der = bytes.fromhex(made.fingerprint), made.certificate.public_bytes(Encoding.DER)
    if not repository.activate(connection, intent.serial, digest, der):
        raise RevokedCertificate()


def _told(intent: Intent) -> tuple[str, str, Mapping[str, object]]:
    """Return subject, domain and details of the audit's entry."""
    who = intent.order.identity
    details: dict[str, object] = {
        "serial": intent.serial,
        "usage": intent.order.usage.name.lower(),
        "hosts": list(intent.order.hosts),
        "not_after": iso(to_ms(intent.not_after)),
    }
    if intent.predecessor is not None:
        details["predecessor"] = intent.predecessor
    return who.uri, who.domain, details
