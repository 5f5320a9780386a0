"""The loop that checks the audit log, once a day and when somebody asks; no main server leads."""

import asyncio
from datetime import UTC, datetime

from sqlalchemy.exc import SQLAlchemyError

from gatepost.clock import Clock
from gatepost.logs import Log
from gatepost.loops import pause
from main_server.audit.checking import PAUSE, start_if_due, take_turn
from main_server.store.database import Ledger

TICK_SECONDS = 0.5
DUE_SECONDS = 60.0


async def audit_loop(stop: asyncio.Event, log: Log, ledger: Ledger, clock: Clock) -> None:
    silent, looked = False, -DUE_SECONDS
    loop = asyncio.get_running_loop()
    while not stop.is_set():
        check = None
        try:
            now = datetime.fromtimestamp(clock.now_ms() / 1000, UTC)
            if loop.time() - looked >= DUE_SECONDS:
                await ledger.run(start_if_due, now)
                looked = loop.time()
            check = await ledger.run(take_turn, now)
            silent = False
        except SQLAlchemyError as error:
            if not silent:
                log.warning("audit.interrupted", reason=type(error).__name__)
            silent = True
        if check is not None and check.ended_at is not None:
            say = log.info if check.fault is None else log.error
            say("audit.checked", entries=check.seq, state=check.state, fault=check.fault)
        await pause(stop, TICK_SECONDS if check is None else PAUSE.total_seconds())
