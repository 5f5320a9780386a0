"""The forms in which the portal and the main server speak of certificates and of those who hold
them; times are ISO 8601, UTC.

Unknown fields are refused by the side that is called, and passed over by the one that asks: the
main server may be the newer one. Orders are the same for administrators who come with a
certificate.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from gatepost.bounds import MOST_DAYS, MOST_MINUTES
from gatepost.trust.identity import Role
from gatepost.trust.revocation import Reason


class CertificateOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An order for a certificate. `client_id` is name, name.domain or domain:name. Without a
    request, the key is made here."""

    client_id: str
    role: Role = Role.CLIENT
    usage: str | None = None
    hosts: list[str] = []
    days: Annotated[float, Meta(ge=0, le=MOST_DAYS)] | None = None
    csr: str | None = None
    pkcs12_password: str | None = None


class RenewalOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An order for one more certificate like another. Without a request, the key is made here."""

    csr: str | None = None
    pkcs12_password: str | None = None


class AnchorOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A CA's certificate (PEM), and the domain whose clients it may certify."""

    domain: str
    certificate: str


class Registration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A certificate (PEM) of a CA that isn't ours, and whose it is."""

    client_id: str
    certificate: str


class Target(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The target of a revocation, hold or release; one of the first three fields says which it
    is."""

    client_id: str | None = None
    serial: str | None = None
    fingerprint: str | None = None
    role: Role | None = None
    reason: Reason = Reason.UNSPECIFIED
    dry_run: bool = False


class TokenOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    client_id: str
    minutes: Annotated[float, Meta(ge=0, le=MOST_MINUTES)] = 60


class ClientOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    client_id: str
    rate_per_second: int = 100
    burst: int = 100


class ClientChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    rate_per_second: int | None = None
    burst: int | None = None
    disabled: bool | None = None


class Certificate(msgspec.Struct, frozen=True, kw_only=True):
    """A certificate in a list. `origin` and what follows isn't known of those from before it was
    noted."""

    serial: str
    fingerprint: str | None
    identity: str
    domain: str
    role: str
    name: str
    status: str
    """One of intended, active, held, revoked and expired."""
    issuer: str | None
    not_before: str
    not_after: str
    created_at: str
    revoked_at: str | None
    reason: str | None
    usage: str | None
    origin: str | None
    """One of issued, enrolled, renewed and registered."""
    actor: str | None
    predecessor: str | None
    anchor: str | None
    """The key of its CA, if that isn't ours."""


class CertificateDetail(Certificate, frozen=True, kw_only=True):
    """A certificate, with what it takes more than its row to say."""

    hosts: list[str]
    successors: list[str]
    last_used_at: str | None
    """The time at which it sent the latest of its client's last messages; None if another did, or
    none."""
    pem: str | None


class CertificatePage(msgspec.Struct, frozen=True):
    certificates: list[Certificate]
    next: str | None


class IssuedCertificate(msgspec.Struct, frozen=True, kw_only=True):
    """A certificate that was issued, with its `key` or `pkcs12` (base64) if the key was made here:
    it is here and nowhere else."""

    cert: str
    key: str | None
    pkcs12: str | None
    fingerprint: str
    serial: str
    identity: str
    not_after: str
    ca: str


class Changed(msgspec.Struct, frozen=True, kw_only=True):
    """The certificates that were revoked, held or released or, after a dry run, would be."""

    serials: list[str]
    tokens_withdrawn: int
    dry_run: bool
    revocation_number: int | None
    redis_told: bool | None


class MadeToken(msgspec.Struct, frozen=True):
    """A token that was made, shown once and kept nowhere. `url` is where it is good, if that is
    configured."""

    token: str
    identity: str
    expires_at: str
    url: str | None


class KeptToken(msgspec.Struct, frozen=True, kw_only=True):
    """A token as the ledger keeps it: `token` is its hash."""

    token: str
    identity: str
    serial: str | None
    created_at: str
    expires_at: str
    used_at: str | None
    withdrawn_at: str | None


class KeptTokens(msgspec.Struct, frozen=True):
    """Tokens, the latest first; `next` is where the ones before begin, if there are any."""

    tokens: list[KeptToken]
    next: str | None = None


class Client(msgspec.Struct, frozen=True, kw_only=True):
    client_id: str
    domain: str
    name: str
    rate_per_second: int
    burst: int
    created_at: str
    disabled_at: str | None


class ClientPage(msgspec.Struct, frozen=True):
    clients: list[Client]
    next: str | None


class Ending(msgspec.Struct, frozen=True):
    """A holder whose last certificate for a use is over within `days`; 0 if it is over."""

    serial: str
    fingerprint: str
    identity: str
    usage: str | None
    not_after: str
    days: int


class Endings(msgspec.Struct, frozen=True):
    """The certificates that end soon, the next first."""

    certificates: list[Ending]
