"""The main server's view of the certificates that may call it, read again every second.

Unknown means refused, whoever signed it. A view that has grown old can't tell, and says so.
"""

import asyncio
import time
from math import inf

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from gatepost.clock import Clock, to_ms
from gatepost.errors import Unavailable, UnknownCertificate
from gatepost.logs import Log
from gatepost.loops import pause
from gatepost.trust.identity import Identity, Role
from gatepost.wire.renewal import SURE_SECONDS
from main_server.ca import repository
from main_server.keys.repository import read_time
from main_server.store.database import Ledger, transact

REFRESH_SECONDS = 1.0


class Callers:
    def __init__(self) -> None:
        self._known: dict[str, Identity] = {}
        self._asked = -inf
        self.problem: str | None = "the ledger was not asked yet"

    async def ask(self, ledger: Ledger, clock: Clock) -> None:
        asked = time.monotonic()
        self.learn(await ledger.run(read_callers, clock), asked)

    def learn(self, known: list[repository.Known], asked: float) -> None:
        """Take over who is known; `asked` is when the ledger was asked, by the monotonic clock."""
        self._known = {one.fingerprint: one.identity for one in known}
        self._asked = asked

    def find(self, fingerprint: str) -> Identity:
        known = self._known.get(fingerprint)
        if known is None:
            if time.monotonic() - self._asked > SURE_SECONDS:
                raise Unavailable("This main server can't tell just now who is known. Try again.")
            raise UnknownCertificate()
        return known


def read_callers(engine: Engine, clock: Clock) -> list[repository.Known]:
    """Return the certificates that may call, by the ledger's clock, which all main servers share
    and by which they set their own."""
    started = time.perf_counter()
    now = transact(engine, read_time)
    clock.correct(to_ms(now), (time.perf_counter() - started) * 1000)
    return transact(engine, lambda c: repository.list_known(c, list(Role), now))


async def callers_loop(
    stop: asyncio.Event, log: Log, ledger: Ledger, clock: Clock, callers: Callers
) -> None:
    """Ask the ledger again and again; this doubles as the watch over it that /readyz shows."""
    while not stop.is_set():
        problem = None
        try:
            await callers.ask(ledger, clock)
        except SQLAlchemyError as error:
            problem = f"the ledger does not answer: {type(error).__name__}"
        if problem != callers.problem:
            (log.warning if problem else log.info)("ledger.changed", problem=problem)
        callers.problem = problem
        await pause(stop, REFRESH_SECONDS)
