"""What keeps the queues going, done by every pool without a leader, four times a second.

What is due becomes ready, what lost its lease comes back, and what has outlived its time ends like
everything else: in the ledger first.
"""

import asyncio
from contextlib import suppress

from gatepost.logs import Log
from gatepost.loops import pause
from gatepost.queue import Queue, QueueError, Queues, Turns
from worker.breaker import Breaker
from worker.delivering import BATCH, LEASE_SECONDS, Deliverer
from worker.main_server import MainServer, Outage

TICK_SECONDS = 0.25
QUEUES_SECONDS = 2.0


async def upkeep_loop(stop: asyncio.Event, log: Log, turns: Turns, deliverer: Deliverer) -> None:
    while not stop.is_set():
        for queue in turns.queues:
            with suppress(QueueError, Outage):  # the delivery loops say it
                await _keep(queue, log, deliverer)
        await pause(stop, TICK_SECONDS)


async def _keep(queue: Queue, log: Log, deliverer: Deliverer) -> None:
    await queue.release_due()
    if reclaimed := await queue.reclaim():
        log.warning("leases.reclaimed", queue=queue.name, count=reclaimed)
    if expired := await queue.expire(BATCH, LEASE_SECONDS):
        await deliverer.deliver_batch(queue, expired)


async def queues_loop(
    stop: asyncio.Event,
    main_server: MainServer,
    breaker: Breaker,
    queues: Queues,
    served: list[Turns],
) -> None:
    """Keeps to the queues of the domains that there are."""
    while not stop.is_set():
        try:
            names = await main_server.queues()
        except Outage as error:
            await breaker.failed(str(error), stop)
            continue
        breaker.succeeded()
        wanted = [queues.named(name) for name in sorted({queues.full_name(n) for n in names})]
        for turns in served:
            await turns.serve(wanted)
        await pause(stop, QUEUES_SECONDS)
