"""Two consumers for the harness to kill: one on the engine, one that pops messages from a list.

What they deliver they write, before anything else, to a file of their own: it stays when they die.
A sluggish one often stands still for longer than its lease, and then settles too late.
"""

import asyncio
import os
import random
import time
from pathlib import Path
from typing import Any

from redis.exceptions import RedisError

from gatepost.queue import Delivery, Queue, QueueError, Reason, connect

NAME = "crashes"
LEASE_SECONDS = 0.5
BATCH = 8
CALL_SECONDS = 0.002


def consume_from_engine(url: str, folder: Path) -> None:
    """Reserve, deliver, settle, until killed."""
    asyncio.run(_engine_loop(url, _open_ledger(folder), stalls=0.0))


def consume_sluggishly(url: str, folder: Path) -> None:
    """Do the same, but often too slowly."""
    asyncio.run(_engine_loop(url, _open_ledger(folder), stalls=0.5))


def consume_naively(url: str, folder: Path) -> None:
    """Pop, deliver, until killed."""
    asyncio.run(_naive_loop(url, _open_ledger(folder)))


def _open_ledger(folder: Path) -> int:
    return os.open(folder / str(os.getpid()), os.O_WRONLY | os.O_CREAT | os.O_APPEND)


async def _engine_loop(url: str, ledger: int, stalls: float) -> None:
    queue = Queue(connect(url), NAME)
    while True:
        try:
            await queue.release_due()
            await queue.reclaim()
            if deliveries := await queue.reserve(BATCH, LEASE_SECONDS):
                await _deliver_and_settle(queue, deliveries, ledger, stalls)
            else:
                await queue.wait(0.1)
        except QueueError:
            await asyncio.sleep(0.01)


async def _deliver_and_settle(
    queue: Queue, deliveries: list[Delivery], ledger: int, stalls: float
) -> None:
    """Most are delivered; some must be tried again, are given back or given up."""
    outcomes: dict[str, list[Delivery]] = {"back": [], "retry": [], "dead": [], "done": []}
    for delivery in deliveries:
        outcome = random.choices(list(outcomes), weights=(5, 10, 2, 83))[0]
        outcomes[outcome].append(delivery)
        if outcome in ("dead", "done"):
            await asyncio.sleep(random.uniform(0, CALL_SECONDS))
            os.write(ledger, delivery.id)
    if random.random() < stalls:
        time.sleep(2 * LEASE_SECONDS)  # noqa: ASYNC251 – the whole process stands still
    await queue.give_back(outcomes["back"])
    await queue.retry_later([(delivery, 0.05) for delivery in outcomes["retry"]])
    await queue.dead_letter([(delivery, Reason.REFUSED) for delivery in outcomes["dead"]])
    await queue.acknowledge(outcomes["done"])


async def _naive_loop(url: str, ledger: int) -> None:
    client: Any = connect(url)
    while True:
        try:
            if popped := await client.execute_command("BRPOP", NAME, 0.1):
                await asyncio.sleep(random.uniform(0, CALL_SECONDS))
                os.write(ledger, popped[1])
        except (RedisError, OSError):
            await asyncio.sleep(0.01)
