"""How fast messages join, are reserved and are settled, beside what Redis can do at all.

The yardsticks promise nothing: bare LPUSH and BRPOP, one at a time, and the same in redis-py's
pipelines. They are measured in the same run, in turns with the engine, on the same connection; a
figure is the median of its rounds.
"""

import os
import statistics
from collections.abc import Awaitable, Callable
from typing import Any

from bench.engine.bed import PAYLOAD, Bed, messages, timed
from bench.rig.machine import noise
from gatepost.queue import Delivery, Queue

BATCHES = (1, 10, 100, 500)
LIST = "yardstick"
SECONDS_WORTH = 2000  # messages for each message of a batch: about a second of each
MOST = 60_000
ROUNDS = 3
LEASE_SECONDS = 600.0


async def measure(bed: Bed, share: float) -> list[dict[str, Any]]:
    """Return a row for each batch size; `share` of the usual number of messages."""
    rows = []
    for batch in BATCHES:
        count = max(batch, int(min(MOST, SECONDS_WORTH * batch) * share) // batch * batch)
        os.sync()  # the disk has what it is owed
        quiet = noise()
        rounds = [
            await _engine(bed, batch, count) | await _yardstick(bed, batch, count)
            for _ in range(ROUNDS)
        ]
        row = {name: statistics.median(found[name] for found in rounds) for name in rounds[0]}
        rows.append({"batch": batch, "messages": count, "noise": quiet} | row)
    return rows


async def _engine(bed: Bed, batch: int, count: int) -> dict[str, float]:
    queue, entries, held = Queue(bed.redis, "rates"), messages(count), list[Delivery]()
    starts = range(0, count, batch)

    async def enqueue() -> None:
        for start in starts:
            await queue.enqueue(entries[start : start + batch])

    async def reserve() -> None:
        for _ in starts:
            held.extend(await queue.reserve(batch, LEASE_SECONDS))

    async def acknowledge() -> None:
        for start in starts:
            await queue.acknowledge(held[start : start + batch])

    found = await _rates(bed, count, enqueue=enqueue, reserve=reserve, acknowledge=acknowledge)
    assert len(held) == count
    return found


async def _yardstick(bed: Bed, batch: int, count: int) -> dict[str, float]:
    async def push() -> None:
        for _ in range(0, count, batch):
            await _pipelined(bed.redis, batch, lambda redis: redis.lpush(LIST, PAYLOAD))

    async def pop() -> None:
        for _ in range(0, count, batch):
            if batch == 1:
                await bed.redis.brpop([LIST], 1)
            else:
                await _pipelined(bed.redis, batch, lambda redis: redis.rpop(LIST))

    return await _rates(bed, count, lpush=push, rpop=pop)


async def _pipelined(redis: Any, batch: int, command: Callable[[Any], Any]) -> None:
    if batch == 1:
        await command(redis)
        return
    pipeline = redis.pipeline(transaction=False)
    for _ in range(batch):
        command(pipeline)
    await pipeline.execute()


async def _rates(
    bed: Bed, count: int, **steps: Callable[[], Awaitable[object]]
) -> dict[str, float]:
    """Messages a second of each step, and Redis's CPU for each message of all of them."""
    found: dict[str, float] = {}
    cpu = bed.cpu()
    for name, step in steps.items():
        found[name] = round(count / await timed(step))
    found["_".join(steps) + "_cpu_us"] = round((bed.cpu() - cpu) / count * 1e6, 1)
    return found
