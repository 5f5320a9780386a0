"""Revoke certificates: ledger row, revocation number and signed lists change in one transaction
(I8).

Then the new state is published to Redis. That may fail: every process also asks the main server.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from redis.asyncio import Redis
from sqlalchemy import Connection, Engine

from gatepost.trust.identity import Identity
from gatepost.trust.revocation import CHANNEL, KEY, Reason, Revocations, encode_revocations
from main_server.audit import repository as audit
from main_server.audit.chain import SYSTEM, Entry
from main_server.ca.authority import Authority
from main_server.ca.crl import build_crl, next_number
from main_server.ca.revoked import repository
from main_server.ca.revoked.repository import Selection
from main_server.ca.token_repository import (
    count_made_by,
    count_open,
    withdraw_made_by,
    withdraw_open,
)
from main_server.store.database import transact

_PUBLISH = (Path(__file__).parent / "lua" / "publish.lua").read_text()
AHEAD = timedelta(minutes=10)
"""The time by which a state's number can be ahead: numbers are Unix milliseconds, or little more
(main_server.ca.crl.next_number). One from later than that is no state's, whatever has written it,
and would keep what is revoked from Redis."""


@dataclass(frozen=True, slots=True)
class Revocation:
    """The state that has been reached, and the certificates that it was reached for."""

    number: int
    serials: list[str]
    tokens: int = 0
    """The number of tokens that were withdrawn: those with which a client that is revoked by name
    could have enrolled, and those that a revoked administrator has made."""


def revoke(
    engine: Engine,
    authorities: Sequence[Authority],
    selection: Selection,
    reason: Reason,
    now: datetime,
    actor: str = SYSTEM,
) -> Revocation:
    """Revoke the selected certificates. Those that are revoked already are left as they are; if
    there is nothing to do, nothing changes."""
    return transact(engine, lambda c: revoke_in(c, authorities, selection, reason, now, actor))


def revoke_in(
    connection: Connection,
    authorities: Sequence[Authority],
    selection: Selection,
    reason: Reason,
    now: datetime,
    actor: str,
) -> Revocation:
    known = repository.lock_number(connection)
    number = next_number(known, now)
    tokens = withdraw_open(connection, selection.client, now) if selection.client else 0
    serials = repository.mark_revoked(connection, selection, reason, number, now)
    _tell_of_tokens(connection, selection, tokens, now, actor)
    tokens += _withdraw_theirs(connection, selection, serials, now, actor)
    if not serials:
        return Revocation(known, [], tokens)
    renew_in(connection, authorities, number, now)
    held = reason is Reason.CERTIFICATE_HOLD
    action = "certificate.held" if held else "certificate.revoked"
    details = {"serials": serials, "reason": reason.value, "number": number}
    audit.append(connection, _entry(actor, action, selection, details), now)
    return Revocation(number, serials, tokens)


def _tell_of_tokens(
    connection: Connection, selection: Selection, tokens: int, now: datetime, actor: str
) -> None:
    if (holder := selection.client) and tokens:
        details = {"tokens": tokens}
        entry = Entry(actor, "token.withdrawn", holder.uri, holder.domain, details)
        audit.append(connection, entry, now)


def count_tokens(
    connection: Connection, selection: Selection, serials: Sequence[str], now: datetime
) -> int:
    """Count the tokens that a revocation of these serials would withdraw."""
    makers = [one.uri for one in _makers(connection, selection, serials)]
    of_holder = count_open(connection, selection.client, now) if selection.client else 0
    return of_holder + count_made_by(connection, makers, now)


def _makers(connection: Connection, selection: Selection, serials: Sequence[str]) -> list[Identity]:
    """Return the administrators whom this shuts out. One who is named is among them, whatever is
    left of their certificates: a token outlives the certificate that it was made by."""
    named = selection.administrator
    found = repository.list_administrators(connection, serials)
    return found if named is None or named in found else [*found, named]


def _withdraw_theirs(
    connection: Connection,
    selection: Selection,
    serials: Sequence[str],
    now: datetime,
    actor: str,
) -> int:
    """Withdraw the tokens of the administrators who are shut out, and return how many there were:
    whoever had an administrator's key may have made tokens with it, to come back with."""
    total = 0
    for one in _makers(connection, selection, serials):
        if count := withdraw_made_by(connection, [one.uri], now):
            entry = Entry(actor, "token.withdrawn", one.uri, one.domain, {"tokens": count})
            audit.append(connection, entry, now)
            total += count
    return total


def release(
    engine: Engine,
    authorities: Sequence[Authority],
    selection: Selection,
    now: datetime,
    actor: str = SYSTEM,
) -> Revocation:
    """End the hold of the selected certificates that are on hold."""

    def work(connection: Connection) -> Revocation:
        known = repository.lock_number(connection)
        number = next_number(known, now)
        serials = repository.mark_released(connection, selection, number)
        if not serials:
            return Revocation(known, [])
        renew_in(connection, authorities, number, now)
        details = {"serials": serials, "number": number}
        audit.append(connection, _entry(actor, "certificate.released", selection, details), now)
        return Revocation(number, serials)

    return transact(engine, work)


def renew_lists(engine: Engine, authorities: Sequence[Authority], now: datetime) -> int:
    """Sign every list anew, so that none grows too old; return the number of the state then."""

    def work(connection: Connection) -> int:
        number = next_number(repository.lock_number(connection), now)
        renew_in(connection, authorities, number, now)
        return number

    return transact(engine, work)


def retire_issuer(
    engine: Engine,
    authorities: Sequence[Authority],
    old: Authority,
    now: datetime,
    actor: str = SYSTEM,
) -> Revocation:
    """Revoke all that an intermediate has signed; then sign its last list, for as long as it lives.

    So its key can go at once, while peers that trust it still have a list to go by.
    """
    selection = Selection(issuer=old.kid)
    done = revoke(engine, authorities, selection, Reason.CA_COMPROMISE, now, actor)

    def work(connection: Connection) -> Revocation:
        number = next_number(repository.lock_number(connection), now)
        entries = repository.list_revoked(connection, old.kid, now, alone=True)
        previous = repository.read_crl(connection, old.kid)
        last = build_crl(old, entries, now, previous, until=old.certificate.not_valid_after_utc)
        repository.store_crl(connection, last)
        repository.store_number(connection, number, now)
        details = {"issuer": old.kid, "number": number}
        audit.append(connection, _entry(actor, "issuer.retired", selection, details), now)
        return Revocation(number, done.serials)

    return transact(engine, work)


def renew_old_lists(engine: Engine, authorities: Sequence[Authority], now: datetime) -> int | None:
    """Sign the lists anew if one is missing or an hour old, and return the number; None if none
    was."""

    def work(connection: Connection) -> int | None:
        known = repository.lock_number(connection)
        if not _any_old(connection, authorities, now):
            return None
        number = next_number(known, now)
        renew_in(connection, authorities, number, now)
        return number

    if not transact(engine, lambda c: _any_old(c, authorities, now)):
        return None
    return transact(engine, work)


def _any_old(connection: Connection, authorities: Sequence[Authority], now: datetime) -> bool:
    lists = [repository.read_crl(connection, one.kid) for one in authorities]
    return any(crl is None or crl.is_old(now) for crl in lists)


def renew_in(
    connection: Connection, authorities: Sequence[Authority], number: int, now: datetime
) -> None:
    for authority in authorities:
        previous = repository.read_crl(connection, authority.kid)
        if previous is not None and previous.is_last:
            continue  # another process has retired it meanwhile
        entries = repository.list_revoked(connection, authority.kid, now)
        repository.store_crl(connection, build_crl(authority, entries, now, previous))
    repository.drop_old_crls(connection, now)
    repository.store_number(connection, number, now)


def _entry(actor: str, action: str, selection: Selection, details: Mapping[str, object]) -> Entry:
    return Entry(actor, action, str(selection), selection.domain, details)


async def publish(redis: Redis, revocations: Revocations) -> bool:
    """Publish this state, and return whether it was news to Redis. Raise RedisError if Redis can't
    be told."""
    script = redis.register_script(_PUBLISH)
    data = encode_revocations(revocations)
    highest = highest_number(revocations)
    return bool(await script(keys=[KEY], args=[revocations.number, data, CHANNEL, highest]))


def highest_number(revocations: Revocations) -> int:
    """Return the highest number that a state beside this one can have by now."""
    return max(revocations.number, int((time.time() + AHEAD.total_seconds()) * 1000))
