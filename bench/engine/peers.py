"""An orientation: other queues on the same Redis, each with tasks that do nothing.

They promise other things, so this is no contest. Each runs in a process of its own, as it comes out
of the box but for logging: one process enqueues one task after the other, then works them off.
"""

import asyncio
import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from bench.engine.tasks import nothing, nothing_async
from bench.rig.machine import noise
from gatepost.queue import Queue, connect

Runner = Callable[[str, int], tuple[float, float]]
BATCH = 100
LEASE_SECONDS = 60.0


def run_gatepost(url: str, count: int) -> tuple[float, float]:
    """The engine: enqueue one at a time, then reserve and acknowledge in batches."""
    return asyncio.run(_run_gatepost(url, count))


async def _run_gatepost(url: str, count: int) -> tuple[float, float]:
    from bench.engine.bed import messages

    redis = connect(url)
    queue = Queue(redis, "orientation")
    began = time.perf_counter()
    for message in messages(count):
        await queue.enqueue([message])
    enqueued = time.perf_counter()
    while deliveries := await queue.reserve(BATCH, LEASE_SECONDS):
        for _ in deliveries:
            await nothing_async()
        await queue.acknowledge(deliveries)
    worked = time.perf_counter()
    await redis.aclose()
    return enqueued - began, worked - enqueued


def run_rq(url: str, count: int) -> tuple[float, float]:
    """RQ, with the worker that doesn't fork for each task."""
    from redis import Redis
    from rq import Queue as RQueue
    from rq import SimpleWorker

    redis = Redis.from_url(url)
    queue = RQueue(connection=redis)
    began = time.perf_counter()
    for _ in range(count):
        queue.enqueue(nothing)
    enqueued = time.perf_counter()
    SimpleWorker([queue], connection=redis).work(burst=True, logging_level="ERROR")
    return enqueued - began, time.perf_counter() - enqueued


def run_dramatiq(url: str, count: int) -> tuple[float, float]:
    """Dramatiq, with its usual eight threads."""
    import dramatiq
    from dramatiq.brokers.redis import RedisBroker

    broker = RedisBroker(url=url)
    dramatiq.set_broker(broker)
    actor = dramatiq.actor(nothing)
    began = time.perf_counter()
    for _ in range(count):
        actor.send()
    enqueued = time.perf_counter()
    worker = dramatiq.Worker(broker, worker_threads=8)
    worker.start()
    broker.join("default")
    worker.join()
    worked = time.perf_counter()
    worker.stop()
    return enqueued - began, worked - enqueued


def run_arq(url: str, count: int) -> tuple[float, float]:
    """arq, with its usual ten tasks at once."""
    return asyncio.run(_run_arq(url, count))


async def _run_arq(url: str, count: int) -> tuple[float, float]:
    from arq import create_pool
    from arq.connections import RedisSettings
    from arq.worker import Worker

    settings = RedisSettings.from_dsn(url)
    pool = await create_pool(settings)
    began = time.perf_counter()
    for _ in range(count):
        await pool.enqueue_job("nothing_async")
    enqueued = time.perf_counter()
    tasks: list[Any] = [nothing_async]
    worker = Worker(tasks, redis_settings=settings, burst=True, handle_signals=False)
    await worker.main()
    return enqueued - began, time.perf_counter() - enqueued


def run_taskiq(url: str, count: int) -> tuple[float, float]:
    """taskiq on a Redis stream, which acknowledges. Its receiver doesn't always end when told."""
    return asyncio.new_event_loop().run_until_complete(_run_taskiq(url, count))


async def _run_taskiq(url: str, count: int) -> tuple[float, float]:
    from taskiq.api import run_receiver_task
    from taskiq_redis import RedisStreamBroker

    left, done = count, asyncio.Event()

    async def count_down() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            done.set()

    broker = RedisStreamBroker(url, consumer_id="0")
    task = broker.register_task(count_down, task_name="nothing")
    await broker.startup()
    began = time.perf_counter()
    for _ in range(count):
        await task.kiq()
    enqueued = time.perf_counter()
    receiving = asyncio.create_task(run_receiver_task(broker))
    ended = asyncio.create_task(done.wait())
    await asyncio.wait([receiving, ended], return_when=asyncio.FIRST_COMPLETED)
    assert done.is_set(), receiving.exception()
    return enqueued - began, time.perf_counter() - enqueued


RUNNERS: dict[str, Runner] = {
    "gatepost": run_gatepost,
    "rq": run_rq,
    "dramatiq": run_dramatiq,
    "arq": run_arq,
    "taskiq": run_taskiq,
}


def measure(url: str, count: int) -> list[dict[str, Any]]:
    """Run each in a process of its own."""
    rows = []
    for name in RUNNERS:
        quiet = noise()
        command = [sys.executable, "-m", "bench.engine.peers", name, str(count)]
        found = subprocess.run(command, input=url, capture_output=True, text=True, check=False)
        if found.returncode:
            rows.append({"name": name, "failed": found.stderr.strip().splitlines()[-1]})
            continue
        rows.append(json.loads(found.stdout.splitlines()[-1]) | {"noise": quiet})
    return rows


def main() -> None:
    """Run one of them; the URL comes by stdin, because it holds a password."""
    name, count, url = sys.argv[1], int(sys.argv[2]), sys.stdin.read()
    logging.disable(logging.INFO)
    enqueuing, working = RUNNERS[name](url, count)
    found = {
        "name": name,
        "version": version(name),
        "tasks": count,
        "enqueued_per_second": round(count / enqueuing),
        "worked_per_second": round(count / working),
    }
    print(json.dumps(found), flush=True)
    os._exit(0)  # whatever still runs


if __name__ == "__main__":
    main()
