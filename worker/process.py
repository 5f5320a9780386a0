"""One process of the worker pool: its resources and its loops."""

from contextlib import AsyncExitStack
from functools import partial

from redis.asyncio import Redis

from gatepost.clock import Clock
from gatepost.loops import Loops
from gatepost.queue import Queues, Turns, connect
from gatepost.service.calls import main_server_asked, main_server_client
from gatepost.service.exporting import exporting
from gatepost.service.ops import helpful, needed
from gatepost.service.redis import RedisWatch, redis_loop
from gatepost.service.replaced import Replaced
from gatepost.service.revocation import start_watch
from gatepost.service.revocation_sources import redis_asked
from gatepost.service.supervisor import Child
from gatepost.service.vitals import Voice, start_speaking
from gatepost.wire.vitals import Tally
from worker.breaker import Breaker
from worker.delivering import Deliverer, DeliveryMetrics
from worker.main_server import MainServer
from worker.settings import WorkerSettings
from worker.upkeep import expiry_loop, queues_loop, upkeep_loop

BATCHES_IN_FLIGHT = 2
"""The batches that are in flight: while one waits for its answer, what has come since goes with the
other."""


async def main(settings: WorkerSettings, child: Child) -> None:
    async with AsyncExitStack() as stack:
        clock = Clock()
        replaced = Replaced(child.log)
        revoked = replaced.open_view(settings.main_server.ca_file, clock)
        client = await stack.enter_async_context(
            main_server_client(settings.main_server, 8, revoked, replaced)
        )
        redis: Redis = await stack.enter_async_context(connect(settings.redis.address()))
        heard = partial(connect, settings.redis.address(), 1)
        queues = Queues(redis, settings.redis.queue_name)
        tracer = await stack.enter_async_context(exporting("worker", settings.tracing, child.log))
        main_server = MainServer(client, settings.main_server.timeout, tracer)
        watch = RedisWatch()
        breaker, redis_breaker, tally = Breaker(child.log), Breaker(child.log), Tally()
        deliverer = Deliverer(
            child.log,
            main_server,
            breaker,
            redis_breaker,
            settings.worker,
            clock,
            DeliveryMetrics(),
            tally,
        )

        # Each loop has turns of its own: they wait on the signals independently.
        served = [Turns(redis) for _ in range(BATCHES_IN_FLIGHT)]
        for turns in served:
            stack.push_async_callback(turns.aclose)
        voice = Voice(
            "worker",
            lambda: {
                "redis": needed(watch.problem),
                "main_server": needed(breaker.problem),
                "revocations": needed(revoked.problem),
                "queues": helpful(_paused(served[0])),
                "clock": helpful(clock.note),
            },
            lambda: tally.totals,
        )

        async with Loops(child.stop) as loops:
            start_watch(
                loops,
                child.stop,
                child.log,
                revoked,
                heard,
                [
                    redis_asked(heard),
                    main_server_asked(settings.main_server, revoked, replaced),
                ],
            )
            loops.start(replaced.loop(child.stop))
            for turns in served:
                loops.start(deliverer.delivery_loop(child.stop, turns))
            loops.start(upkeep_loop(child.stop, child.log, served[0]))
            loops.start(expiry_loop(child.stop, served[0], deliverer, breaker))
            loops.start(queues_loop(child.stop, main_server, breaker, queues, served))
            loops.start(redis_loop(child.stop, child.log, redis, watch, clock))
            start_speaking(loops, child, redis, voice, clock)


def _paused(turns: Turns) -> str | None:
    return f"paused by hand: {', '.join(turns.paused)}" if turns.paused else None
