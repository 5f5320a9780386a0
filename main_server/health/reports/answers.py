"""Keep what proxies say of how long their answers took, for the nightly pipeline.

Each process says its totals since its start once a second, and every main server hears all of them
and writes what it has heard. So one main server is enough, and several don't count twice. A message
costs nothing: the totals are those of the metrics.
"""

import asyncio
from contextlib import suppress

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from gatepost.clock import Clock, from_ms
from gatepost.loops import pause
from gatepost.wire.vitals import ANSWERS_KEPT, Answered
from main_server.health.overview.heard import Heard
from main_server.health.reports import repository
from main_server.store.database import Ledger, transact

WRITE_SECONDS = 10.0


async def answers_loop(stop: asyncio.Event, ledger: Ledger, clock: Clock, heard: Heard) -> None:
    """Write what was heard now and then, and once more at the end: processes that have left by then
    are not heard of again."""
    while not stop.is_set():
        await pause(stop, WRITE_SECONDS)
        with suppress(SQLAlchemyError):  # the checks say so; totals lose nothing by it
            await keep(ledger, clock, heard.answers())


async def keep(ledger: Ledger, clock: Clock, answers: dict[str, Answered]) -> None:
    now = from_ms(clock.now_ms())
    hour = now.replace(minute=0, second=0, microsecond=0)

    def write(connection: Connection) -> None:
        repository.put_answers(connection, hour, answers)
        repository.forget_answers(connection, now - ANSWERS_KEPT)

    if answers:
        await ledger.run(transact, write)
