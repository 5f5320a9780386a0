"""Upkeep of the ledger's tables from time to time: partitions are made ahead; old claims, and
reports for data subjects that are over, are forgotten.

What fails is tried again in an hour; two weeks of partitions leave time to notice.
"""

import asyncio
from datetime import date, timedelta

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from gatepost.clock import Clock, from_ms
from gatepost.logs import Log
from gatepost.loops import pause
from main_server.messages import repository
from main_server.messages.partitions import ensure_partitions
from main_server.messages.subjects.service import forget_expired
from main_server.store.database import Ledger, transact

EVERY_SECONDS = 3600.0
KEY_LIFE = timedelta(days=7)
"""The life of a claim, longer than any message can wait, so that no message outlives the claim on
its key."""
CHUNK = 5_000


async def housekeeping_loop(stop: asyncio.Event, log: Log, ledger: Ledger, clock: Clock) -> None:
    while not stop.is_set():
        try:
            made = await ledger.run(ensure_partitions, today(clock))
            if made:
                log.info("partitions.made", first=made[0], last=made[-1])
            forgotten = await ledger.run(forget_old_keys, clock)
            if forgotten:
                log.info("claims.forgotten", count=forgotten)
            await ledger.run(forget_expired, from_ms(clock.now_ms()))
        except SQLAlchemyError as error:
            log.warning("housekeeping.failed", reason=type(error).__name__)
        await pause(stop, EVERY_SECONDS)


def today(clock: Clock) -> date:
    return from_ms(clock.now_ms()).date()


def forget_old_keys(engine: Engine, clock: Clock) -> int:
    """Forget old claims in chunks, so that nobody waits for a long transaction."""
    before = from_ms(clock.now_ms()) - KEY_LIFE
    forgotten, chunk = 0, CHUNK
    while chunk == CHUNK:
        chunk = transact(engine, lambda c: repository.forget_keys(c, before, CHUNK))
        forgotten += chunk
    return forgotten
