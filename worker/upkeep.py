"""The upkeep of the queues, done by every pool without a leader, four times a second.

Messages that are due become ready, those that lost their lease come back, and those that have
outlived their time end like everything else: in the ledger first. That may take a main server its
time, so it has a loop of its own: what died with a worker must be available within a second of its
lease, whatever else is slow (I3).
"""

import asyncio
from collections.abc import Awaitable, Callable

from gatepost.logs import Log
from gatepost.loops import backoff, pause
from gatepost.queue import Queue, QueueError, Queues, Turns
from worker.breaker import LONGEST_WAIT_SECONDS, Breaker
from worker.delivering import BATCH, LEASE_SECONDS, Deliverer
from worker.main_server import MainServer, Outage

TICK_SECONDS = 0.25
PIECE = 500
QUEUES_SECONDS = 1.0
"""The seconds after which, at the latest, a queue that was paused is left alone."""


async def upkeep_loop(stop: asyncio.Event, log: Log, turns: Turns) -> None:
    async def keep(queue: Queue) -> bool:
        released, reclaimed = await queue.release_due(PIECE), await queue.reclaim(PIECE)
        if reclaimed:
            log.warning("leases.reclaimed", queue=queue.name, count=reclaimed)
        return max(released, reclaimed) >= PIECE

    await _rounds(stop, turns, keep)


async def expiry_loop(
    stop: asyncio.Event, turns: Turns, deliverer: Deliverer, breaker: Breaker
) -> None:
    """End messages that have expired; wait while the main server is away: to ask again is for the
    delivery loops.

    A main server may find that a message has time left: its row was redriven, or the clocks differ.
    Then it is delivered, but from a paused queue nothing is.
    """

    async def end(queue: Queue) -> bool:
        expired = [] if breaker.problem else await queue.expire(BATCH, LEASE_SECONDS)
        if expired:
            await deliverer.deliver_batch(queue, expired, held=queue.name in turns.paused)
        return len(expired) >= BATCH

    await _rounds(stop, turns, end)


async def _rounds(
    stop: asyncio.Event, turns: Turns, step: Callable[[Queue], Awaitable[bool]]
) -> None:
    """Take a bounded step in each queue, round after round; go on at once where one has more.

    After a failure, which the delivery loops tell, the next round waits longer each time.
    """
    waits = backoff(TICK_SECONDS, LONGEST_WAIT_SECONDS)
    while not stop.is_set():
        more = failed = False
        for queue in turns.queues:
            try:
                more |= await step(queue)
            except (QueueError, Outage):
                failed = True
        if failed:
            await pause(stop, next(waits))
            continue
        waits = backoff(TICK_SECONDS, LONGEST_WAIT_SECONDS)
        await pause(stop, 0 if more else TICK_SECONDS)


async def queues_loop(
    stop: asyncio.Event,
    main_server: MainServer,
    breaker: Breaker,
    queues: Queues,
    served: list[Turns],
) -> None:
    """Keep to the queues of the domains that there are, and to what is paused of them."""
    while not stop.is_set():
        try:
            told = await main_server.queues()
        except Outage as error:
            await breaker.failed(str(error), stop)
            continue
        breaker.succeeded()
        names = sorted({queues.full_name(name) for name in told.queues})
        for turns in served:
            await turns.serve([queues.named(name) for name in names], set(told.paused))
        await pause(stop, QUEUES_SECONDS)
