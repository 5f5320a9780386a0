"""One process of the worker pool: its resources and its loops."""

import asyncio
from contextlib import AsyncExitStack

from redis.asyncio import Redis

from gatepost.logs import Log
from gatepost.loops import pause
from gatepost.queue import Queue, QueueError, connect
from gatepost.service.calls import main_server_client
from gatepost.service.redis import RedisWatch, redis_loop
from gatepost.service.supervisor import Child
from worker.delivering import Deliverer, DeliveryMetrics
from worker.main_server import MainServer, Outage
from worker.settings import WorkerSettings

BATCHES_IN_FLIGHT = 2
TICK_SECONDS = 0.25


async def main(settings: WorkerSettings, child: Child) -> None:
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(main_server_client(settings.main_server, 8))
        redis: Redis = await stack.enter_async_context(connect(settings.redis.address()))
        queue = Queue(redis, settings.redis.queue_name)
        watch = RedisWatch()
        deliverer = Deliverer(
            child.log, queue, MainServer(client), settings.worker, DeliveryMetrics()
        )
        async with asyncio.TaskGroup() as loops:
            for _ in range(BATCHES_IN_FLIGHT):
                loops.create_task(deliverer.delivery_loop(child.stop))
            loops.create_task(tick_loop(child.stop, child.log, queue, deliverer))
            loops.create_task(redis_loop(child.stop, child.log, redis, watch))
            loops.create_task(
                child.heart_loop(lambda: {"redis": watch.problem, "main_server": deliverer.problem})
            )


async def tick_loop(stop: asyncio.Event, log: Log, queue: Queue, deliverer: Deliverer) -> None:
    """Brings back what is due and what lost its lease, and ends what has outlived its time.

    Every pool does it, without a leader.
    """
    while not stop.is_set():
        try:
            await queue.release_due()
            if reclaimed := await queue.reclaim():
                log.warning("leases.reclaimed", count=reclaimed)
            await deliverer.end_expired()
        except (QueueError, Outage):
            pass  # the other loops have said it; the next turn tries again
        await pause(stop, TICK_SECONDS)
