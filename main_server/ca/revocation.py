"""Revoking: ledger row, revocation number and signed lists change in one transaction (I8).

Then the new state is published to Redis. That may fail: every process also asks the main server.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from redis.asyncio import Redis
from sqlalchemy import Connection, Engine

from gatepost.revocation import CHANNEL, KEY, Revocations, encode_revocations
from main_server.ca.authority import Authority
from main_server.ca.crl import Reason, build_crl, next_number
from main_server.ca.revoked import repository
from main_server.ca.revoked.repository import Selection
from main_server.database import transact

_PUBLISH = (Path(__file__).parent / "lua" / "publish.lua").read_text()


@dataclass(frozen=True, slots=True)
class Revocation:
    """The state that has been reached, and which certificates it was reached for."""

    number: int
    serials: list[str]


def revoke(
    engine: Engine,
    authorities: Sequence[Authority],
    selection: Selection,
    reason: Reason,
    now: datetime,
) -> Revocation:
    """Certificates that are revoked already are left as they are; nothing to do changes nothing."""

    def work(connection: Connection) -> Revocation:
        known = repository.lock_number(connection)
        number = next_number(known, now)
        serials = repository.mark_revoked(connection, selection, reason, number, now)
        if not serials:
            return Revocation(known, [])
        _renew_lists(connection, authorities, number, now)
        return Revocation(number, serials)

    return transact(engine, work)


def release(
    engine: Engine, authorities: Sequence[Authority], selection: Selection, now: datetime
) -> Revocation:
    """Ends the hold of those that are on hold."""

    def work(connection: Connection) -> Revocation:
        known = repository.lock_number(connection)
        number = next_number(known, now)
        serials = repository.mark_released(connection, selection, number)
        if not serials:
            return Revocation(known, [])
        _renew_lists(connection, authorities, number, now)
        return Revocation(number, serials)

    return transact(engine, work)


def renew_lists(engine: Engine, authorities: Sequence[Authority], now: datetime) -> int:
    """Signs every list anew, so that none grows too old; the number of the state then."""

    def work(connection: Connection) -> int:
        number = next_number(repository.lock_number(connection), now)
        _renew_lists(connection, authorities, number, now)
        return number

    return transact(engine, work)


def _renew_lists(
    connection: Connection, authorities: Sequence[Authority], number: int, now: datetime
) -> None:
    for authority in authorities:
        entries = repository.list_revoked(connection, authority.kid, now)
        previous = repository.read_crl(connection, authority.kid)
        repository.store_crl(connection, build_crl(authority, entries, now, previous))
    repository.drop_other_crls(connection, [authority.kid for authority in authorities])
    repository.store_number(connection, number, now)


async def publish(redis: Redis, revocations: Revocations) -> bool:
    """Whether this state was news to Redis. Raises RedisError if it can't be told."""
    script = redis.register_script(_PUBLISH)
    data = encode_revocations(revocations)
    return bool(await script(keys=[KEY], args=[revocations.number, data, CHANNEL]))
