"""The loop that checks the audit log when somebody has asked for it; no main server leads."""

import asyncio
from datetime import UTC, datetime

from sqlalchemy.exc import SQLAlchemyError

from gatepost.clock import Clock
from gatepost.logs import Log
from gatepost.loops import pause
from main_server.audit.checking import PAUSE, take_turn
from main_server.database import Ledger

TICK_SECONDS = 0.5


async def audit_loop(stop: asyncio.Event, log: Log, ledger: Ledger, clock: Clock) -> None:
    silent = False
    while not stop.is_set():
        check = None
        try:
            check = await ledger.run(take_turn, datetime.fromtimestamp(clock.now_ms() / 1000, UTC))
            silent = False
        except SQLAlchemyError as error:
            if not silent:
                log.warning("audit.interrupted", reason=type(error).__name__)
            silent = True
        if check is not None and check.ended_at is not None:
            say = log.info if check.fault is None else log.error
            say("audit.checked", entries=check.seq, state=check.state, fault=check.fault)
        await pause(stop, TICK_SECONDS if check is None else PAUSE.total_seconds())
