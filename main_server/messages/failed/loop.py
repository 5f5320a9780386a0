"""The loop that redrives: each main server takes turns at whatever is due, and none leads.

What is done and what is left is in the ledger, so a redrive goes on after any restart, wherever.
"""

import asyncio
from datetime import UTC, datetime

from sqlalchemy.exc import SQLAlchemyError

from gatepost.clock import Clock
from gatepost.logs import Log
from gatepost.loops import pause
from main_server.messages.failed.service import take_turn
from main_server.store.database import Ledger

TICK_SECONDS = 0.5


async def redrive_loop(stop: asyncio.Event, log: Log, ledger: Ledger, clock: Clock) -> None:
    silent = False
    while not stop.is_set():
        done = None
        try:
            done = await ledger.run(take_turn, datetime.fromtimestamp(clock.now_ms() / 1000, UTC))
            silent = False
        except SQLAlchemyError as error:
            if not silent:
                log.warning("redrive.interrupted", reason=type(error).__name__)
            silent = True
        if done:
            log.info("redrive.turn", redriven=done)
        await pause(stop, TICK_SECONDS if done is None else 0)
