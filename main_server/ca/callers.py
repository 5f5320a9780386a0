"""The main server's view of the certificates that may call it, read again every second.

Unknown means refused, whoever signed it.
"""

import asyncio
import time

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from gatepost.clock import Clock, to_ms
from gatepost.identity import Identity, Role
from gatepost.logs import Log
from gatepost.loops import pause
from main_server.ca import repository
from main_server.database import Ledger, transact
from main_server.keys.repository import read_time

REFRESH_SECONDS = 1.0


class Callers:
    def __init__(self) -> None:
        self._known: dict[str, Identity] = {}
        self.problem: str | None = "the ledger was not asked yet"

    def learn(self, known: list[repository.Known]) -> None:
        self._known = {one.fingerprint: one.identity for one in known}

    def find(self, fingerprint: str) -> Identity | None:
        return self._known.get(fingerprint)


def read_callers(engine: Engine, clock: Clock) -> list[repository.Known]:
    """By the ledger's clock, which all main servers share and by which they set their own."""
    started = time.perf_counter()
    now = transact(engine, read_time)
    clock.correct(to_ms(now), (time.perf_counter() - started) * 1000)
    return transact(engine, lambda c: repository.list_known(c, list(Role), now))


async def callers_loop(
    stop: asyncio.Event, log: Log, ledger: Ledger, clock: Clock, callers: Callers
) -> None:
    """Doubles as the watch over the ledger that /readyz shows."""
    while not stop.is_set():
        problem = None
        try:
            callers.learn(await ledger.run(read_callers, clock))
        except SQLAlchemyError as error:
            problem = f"the ledger does not answer: {type(error).__name__}"
        if problem != callers.problem:
            (log.warning if problem else log.info)("ledger.changed", problem=problem)
        callers.problem = problem
        await pause(stop, REFRESH_SECONDS)
