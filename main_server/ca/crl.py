"""Certificate revocation lists: what one says, and how long it may be relied on.

Pure: who is on it and which number it has is decided by its callers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cryptography import x509

from gatepost.trust.revocation import Reason
from main_server.ca.authority import Authority

LIFETIME = timedelta(hours=24)
REBUILT_EVERY = timedelta(hours=1)
BACKDATE = timedelta(minutes=5)
"""The time by which a list begins early: a reader's clock may be behind ours; and within that time,
lists may follow each other closely."""


@dataclass(frozen=True, slots=True)
class Entry:
    serial: int
    reason: Reason
    revoked_at: datetime


@dataclass(frozen=True, slots=True)
class Crl:
    """A list that is signed, and what has to be known to follow it up."""

    issuer: str
    number: int
    der: bytes
    this_update: datetime
    next_update: datetime

    @property
    def is_last(self) -> bool:
        """True for an intermediate's last list, which lives as long as the intermediate: none comes
        after it."""
        return self.next_update - self.this_update > LIFETIME + BACKDATE

    def is_old(self, now: datetime) -> bool:
        """Tell whether it is time for the next list; it never is after an intermediate's last."""
        return not self.is_last and now >= self.this_update + BACKDATE + REBUILT_EVERY


def build_crl(
    authority: Authority,
    entries: Sequence[Entry],
    now: datetime,
    previous: Crl | None,
    until: datetime | None = None,
) -> Crl:
    """Sign a list, newer than the previous one in number and in time: OpenSSL ignores one of the
    same second.

    Numbers are Unix milliseconds or more, so that they rise even after the ledger was restored.
    """
    number = next_number(previous.number if previous else 0, now)
    this_update = now.replace(microsecond=0) - BACKDATE
    if previous:
        this_update = max(this_update, previous.this_update + timedelta(seconds=1))
    next_update = until or now.replace(microsecond=0) + LIFETIME
    builder = x509.CertificateRevocationListBuilder(
        last_update=this_update,
        next_update=next_update,
        revoked_certificates=[_entry(entry) for entry in entries],
    ).add_extension(x509.CRLNumber(number), critical=False)
    return Crl(authority.kid, number, authority.sign_crl(builder), this_update, next_update)


def next_number(previous: int, now: datetime) -> int:
    return max(previous + 1, int(now.timestamp() * 1000))


def _entry(entry: Entry) -> x509.RevokedCertificate:
    builder = x509.RevokedCertificateBuilder(entry.serial, entry.revoked_at)
    if entry.reason is not Reason.UNSPECIFIED:  # RFC 5280 wants that one left out
        builder = builder.add_extension(x509.CRLReason(x509.ReasonFlags(entry.reason)), False)
    return builder.build()
