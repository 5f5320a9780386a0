"""The reads of what people are shown: from a replica of the ledger, where there is one.

What decides anything never comes from it: sessions, rights, revocation, the audit log, and what
opens bodies (the keys' schema is in no replica). Those who ask the replica hold no rights on the
ledger by it: whoever asks was let in by the ledger itself a moment before.

A pulse says how old a replica is: the main servers write the time into the ledger each second, and
what the replica shows of it is how far it has come, whatever it or the network thinks of that.
While it is away, or too far behind, the ledger is asked as if there were none. So it is for a
question that alone takes too long there; the next one goes to the replica again.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from gatepost.clock import Clock, iso, to_ms
from gatepost.logs import Log
from gatepost.loops import pause
from main_server.settings import Replica
from main_server.store.database import (
    REPLICA_SECONDS,
    Ledger,
    RequestLedger,
    create_replica_engine,
    is_outage,
    transact,
)
from main_server.store.replica.repository import beat, read

P = ParamSpec("P")
T = TypeVar("T")

PULSE_SECONDS = 1.0
HEARD_MS = 4_000
"""Milliseconds for which a replica counts as there, after it was last heard."""
WORTH_SAYING_MS = 5_000
"""The age, in milliseconds, above which a page says how old it is."""


class Shown:
    """Reads for people: from the replica if it will do, else from the ledger. Without a replica it
    is the ledger."""

    def __init__(
        self,
        log: Log,
        ledger: Ledger,
        clock: Clock,
        replica: Ledger | None = None,
        longest_lag_seconds: float = 0,
    ) -> None:
        self._log = log
        self._ledger = ledger
        self._requests = RequestLedger(ledger)
        self._clock = clock
        self._replica = replica
        self._longest_lag_ms = int(longest_lag_seconds * 1000)
        self._as_of = self._heard_at = 0
        self._problem: str | None = "not heard yet" if replica else None

    @property
    def problem(self) -> str | None:
        """The reason why the replica isn't asked; None if it is, or if there is none."""
        return self._problem

    def as_of(self) -> str | None:
        """Return the time that what is shown isn't older than; None if it is new. To be asked
        before it is read."""
        if not self._is_asked() or self._clock.now_ms() - self._as_of <= WORTH_SAYING_MS:
            return None
        return iso(self._as_of)

    async def run(
        self, function: Callable[Concatenate[Engine, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a function at the replica or the ledger; raise LedgerUnavailable if the ledger too is
        away."""
        if self._replica is not None and self._is_asked():
            try:
                async with asyncio.timeout(REPLICA_SECONDS):
                    return await self._replica.run(function, *args, **kwargs)
            except (SQLAlchemyError, TimeoutError) as error:
                self._pass_over(error)
        return await self._requests.run(function, *args, **kwargs)

    def _pass_over(self, error: SQLAlchemyError | TimeoutError) -> None:
        """Note that the replica was passed over. The pulse finds out if it hangs: one question may
        be as slow by itself."""
        if isinstance(error, SQLAlchemyError) and is_outage(error):
            self._note(type(error).__name__)
        else:
            self._log.warning("replica.passed_over", reason=type(error).__name__)

    async def pulse_loop(self, stop: asyncio.Event) -> None:
        """Write the pulse and look for it at the replica, each second; only where there is one."""
        while self._replica is not None and not stop.is_set():
            await asyncio.gather(self._beat(), self._look(self._replica))
            await pause(stop, PULSE_SECONDS)

    async def _beat(self) -> None:
        with suppress(SQLAlchemyError):  # the checks say that the ledger is away
            await self._ledger.run(transact, beat)

    async def _look(self, replica: Ledger) -> None:
        try:
            async with asyncio.timeout(REPLICA_SECONDS):
                seen = await replica.run(transact, read)
        except (SQLAlchemyError, TimeoutError) as error:
            self._note(type(error).__name__)
            return
        if seen is None:
            self._note("nothing of ours has come to it")
            return
        self._as_of, self._heard_at = to_ms(seen), self._clock.now_ms()
        behind = self._heard_at - self._as_of
        self._note(f"{behind // 1000} s behind" if behind > self._longest_lag_ms else None)

    def _is_asked(self) -> bool:
        heard = self._clock.now_ms() - self._heard_at <= HEARD_MS
        return self._replica is not None and self._problem is None and heard

    def _note(self, problem: str | None) -> None:
        if (problem is None) != (self._problem is None):
            if problem is None:
                self._log.info("replica.asked")
            else:
                self._log.warning("replica.passed_over", reason=problem)
        self._problem = problem


def open_shown(log: Log, ledger: Ledger, clock: Clock, settings: Replica | None) -> Shown:
    if settings is None:
        return Shown(log, ledger, clock)
    replica = Ledger(create_replica_engine(settings), settings.pool_size)
    return Shown(log, ledger, clock, replica, settings.longest_lag)
