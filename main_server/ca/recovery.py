"""Recover what was revoked after the backup that the ledger was restored from: it is in the file of
lists.

The file is looked into before it is written, each time, since writing ends what it knows. What a
list in it calls revoked for good, and the ledger doesn't, the ledger has forgotten; likewise a
hold, if it wasn't released after that list. A certificate that the ledger has no row of stays on
the lists until it must have expired. A list is believed if an intermediate of ours has signed it.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from cryptography import x509
from sqlalchemy import Connection, Engine

from gatepost.trust.certificates import Unreadable, find_extension, read_crl
from gatepost.trust.revocation import Reason
from gatepost.trust.signed_list import SignedList, read_list
from main_server.audit import repository as audit
from main_server.audit.chain import SYSTEM, Entry
from main_server.ca.authority import Authority
from main_server.ca.crl import Crl, next_number
from main_server.ca.crl_file import read_crl_file, write_crl_file
from main_server.ca.profiles import PROFILES
from main_server.ca.revocation import renew_in
from main_server.ca.revoked import repository
from main_server.ca.revoked.repository import Forgotten, Selection
from main_server.store.database import transact

_LONGEST = max(profile.lifetime for profile in PROFILES.values())


@dataclass(frozen=True, slots=True)
class Followed:
    """The state that is in the file now, and the serials that the ledger had forgotten."""

    number: int
    serials: list[str]


@dataclass(frozen=True, slots=True)
class _Found:
    """A list of the file, and those of its serials that the ledger's own list doesn't have."""

    issuer: Authority
    list: SignedList
    missing: frozenset[str]


def follow(engine: Engine, authorities: Sequence[Authority], file: Path, now: datetime) -> Followed:
    """Make the file say what the ledger says; raise ConfigurationError if it can't be read."""
    serials = recover(engine, authorities, file, now)
    while True:
        revocations = transact(engine, repository.read_revocations)
        write_crl_file(file, revocations)
        # Another process may have written a newer state just before us.
        if transact(engine, repository.read_number) == revocations.number:
            return Followed(revocations.number, serials)


def recover(
    engine: Engine, authorities: Sequence[Authority], file: Path, now: datetime
) -> list[str]:
    """Revoke again what had been forgotten, and return the serials."""
    ours = {one.kid: one for one in authorities}
    issuers = {kid: one.certificate for kid, one in ours.items()}
    believed = [one for der in read_crl_file(file) if (one := read_list(der, issuers))]
    news = [found for kid, one in believed if (found := _compare(engine, ours[kid], one))]
    if not news:
        return []
    return transact(engine, partial(_take_back, news=news, authorities=authorities, now=now))


def _compare(engine: Engine, issuer: Authority, found: SignedList) -> _Found | None:
    """Return what is new in a list of the file; None if the ledger's list has all of it, and is no
    older."""
    known = transact(engine, partial(repository.read_crl, issuer=issuer.kid))
    if known is not None and known.der == found.der:
        return None
    mine = read_list(known.der, {issuer.kid: issuer.certificate}) if known else None
    missing = found.serials - (mine[1].serials if mine else frozenset())
    is_newer = known is None or known.number < found.number
    return _Found(issuer, found, missing) if missing or is_newer else None


def _take_back(
    connection: Connection, news: list[_Found], authorities: Sequence[Authority], now: datetime
) -> list[str]:
    known = repository.lock_number(connection)
    number = next_number(max(known, *(one.list.number for one in news)), now)
    is_behind = False
    serials: list[str] = []
    for found in news:
        is_behind |= _remember(connection, found)
        serials += _revoke_again(connection, found, number, now)
    if serials or is_behind:
        renew_in(connection, authorities, number, now)
    if serials:
        entry = Entry(SYSTEM, "certificate.revoked", "restored ledger", None, {"serials": serials})
        audit.append(connection, entry, now)
    return serials


def _remember(connection: Connection, found: _Found) -> bool:
    """Remember a list of the file, so that the next list's number is above the one that others have
    seen; return whether it was newer than the ledger's."""
    one, issuer = found.list, found.issuer.kid
    known = repository.read_crl(connection, issuer)
    if known is not None and known.number >= one.number:
        return False
    made, until = (datetime.fromtimestamp(ms / 1000, UTC) for ms in (one.made_ms, one.until_ms))
    repository.store_crl(connection, Crl(issuer, one.number, one.der, made, until))
    return True


def _revoke_again(connection: Connection, found: _Found, number: int, now: datetime) -> list[str]:
    states = repository.find_states(connection, found.missing)
    done: list[str] = []
    for one in read_crl(found.list.der):
        serial, reason = f"{one.serial_number:032x}", _reason(one)
        if serial not in found.missing:
            continue
        at, state = one.revocation_date_utc, states.get(serial)
        if state is None:
            until = min(at + _LONGEST, found.issuer.certificate.not_valid_after_utc)
            if until > now:
                row = Forgotten(serial, found.issuer.kid, reason, at, until)
                repository.record_forgotten(connection, row, number, now)
                done.append(serial)
        elif reason is not Reason.CERTIFICATE_HOLD or state.number <= found.list.number:
            where = Selection(serial=serial)
            done += repository.mark_revoked(connection, where, reason, number, at)
    return done


def _reason(one: x509.RevokedCertificate) -> Reason:
    with suppress(Unreadable, ValueError):  # a reason that we don't give
        if said := find_extension(one, x509.CRLReason):
            return Reason(said.reason.value)
    return Reason.UNSPECIFIED
