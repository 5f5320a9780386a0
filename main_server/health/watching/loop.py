"""The loops that look at the stores for Prometheus, each store by itself: one that hangs holds up
neither the other nor anything else."""

import asyncio

from redis.asyncio import Redis
from redis.exceptions import RedisError
from sqlalchemy.exc import SQLAlchemyError

from gatepost.clock import Clock
from gatepost.loops import Loops, pause
from main_server.health.watching import ledger_figures, redis_figures
from main_server.health.watching.gauges import Figures
from main_server.messages.housekeeping import today
from main_server.store.database import Ledger

EVERY_SECONDS = 5.0
ANSWER_SECONDS = 2.0


def start_watching(
    loops: Loops, stop: asyncio.Event, redis: Redis, ledger: Ledger, clock: Clock
) -> None:
    loops.start(redis_figures_loop(stop, redis))
    loops.start(ledger_figures_loop(stop, ledger, clock))


async def redis_figures_loop(stop: asyncio.Event, redis: Redis) -> None:
    figures = Figures("gatepost_redis", redis_figures.WORDS)
    while not stop.is_set():
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                figures.show(await redis_figures.read_figures(redis))
        except (RedisError, TimeoutError):
            figures.show({})  # the watch over Redis says so
        await pause(stop, EVERY_SECONDS)


async def ledger_figures_loop(stop: asyncio.Event, ledger: Ledger, clock: Clock) -> None:
    figures = Figures("gatepost_ledger", ledger_figures.LEDGER_WORDS)
    audit = Figures("gatepost_audit", ledger_figures.AUDIT_WORDS)
    while not stop.is_set():
        try:
            figures.show(await ledger.run(ledger_figures.read_ledger, today(clock)))
            audit.show(await ledger.run(ledger_figures.read_audit))
        except SQLAlchemyError:
            figures.show({})  # the watch over the ledger says so
            audit.show({})
        await pause(stop, EVERY_SECONDS)
