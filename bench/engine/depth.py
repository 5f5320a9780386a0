"""What depth costs: time and memory for each message, from a thousand to a million waiting.

At each depth new messages join at one end while as many are reserved and settled at the other, so
the depth stays. A shallow queue is measured in turns with the deep one, so that what the machine
does meanwhile meets both. At last everything is settled, and the memory must be back.
"""

import os
import statistics
from functools import partial
from typing import Any

from bench.engine.bed import Bed, messages, timed
from bench.rig.machine import noise
from gatepost.queue import Queue

BATCH = 100
ROUND = 2000
ROUNDS = 15
LEASE_SECONDS = 600.0
FILL = 500
SHALLOW = 1000


async def measure(bed: Bed, most: int) -> dict[str, Any]:
    """Return the cost at each depth, and the memory before, at the deepest, and after."""
    deep, shallow = Queue(bed.redis, "deep"), Queue(bed.redis, "shallow")
    await _fill(bed, shallow, 0, SHALLOW)
    await _pass_through(deep)  # scripts are loaded, memory is warm
    empty = await bed.memory()
    rows, depth = [], 0
    while depth < most:
        depth = await _fill(bed, deep, depth, min(max(10 * SHALLOW, depth * 10), most))
        rows.append(await _compare(bed, deep, shallow) | {"waiting": depth})
    full = await bed.memory()
    await _drain(bed, deep)
    return {
        "batch": BATCH,
        "shallow": SHALLOW,
        "rows": rows,
        "bytes_for_each": round((full - empty) / depth),
        "memory_before": empty,
        "memory_full": full,
        "memory_after": await bed.memory(),
    }


async def _fill(bed: Bed, queue: Queue, depth: int, wanted: int) -> int:
    """Let so many wait, faster than is safe: only here nobody would miss them."""
    await bed.redis.config_set("appendfsync", "no")
    for start in range(depth, wanted, FILL):
        await queue.enqueue(messages(min(FILL, wanted - start)))
    await bed.redis.config_set("appendfsync", "always")
    os.sync()  # the disk has what it is owed
    return wanted


async def _compare(bed: Bed, deep: Queue, shallow: Queue) -> dict[str, Any]:
    """Return medians of several rounds, in µs for each message that comes and goes."""
    quiet = noise()
    walls: dict[str, list[float]] = {"deep": [], "shallow": []}
    cpus: dict[str, list[float]] = {"deep": [], "shallow": []}
    for _ in range(ROUNDS):
        for name, queue in (("shallow", shallow), ("deep", deep)):
            cpu = await _redis_cpu(bed)
            walls[name].append(await timed(partial(_pass_through, queue)))
            cpus[name].append(await _redis_cpu(bed) - cpu)
    found: dict[str, Any] = {"noise": quiet}
    for name in walls:
        found[f"{name}_wall_us"] = round(statistics.median(walls[name]) / ROUND * 1e6, 1)
        found[f"{name}_redis_us"] = round(statistics.median(cpus[name]) / ROUND * 1e6, 1)
    return found


async def _redis_cpu(bed: Bed) -> float:
    """Return the CPU seconds of Redis's main thread, finer than the kernel's ticks."""
    told = await bed.redis.info("cpu")
    return float(told["used_cpu_user_main_thread"]) + float(told["used_cpu_sys_main_thread"])


async def _pass_through(queue: Queue) -> None:
    for _ in range(0, ROUND, BATCH):
        await queue.enqueue(messages(BATCH))
        held = await queue.reserve(BATCH, LEASE_SECONDS)
        assert await queue.acknowledge(held) == [True] * BATCH


async def _drain(bed: Bed, queue: Queue) -> None:
    await bed.redis.config_set("appendfsync", "no")
    while held := await queue.reserve(FILL, LEASE_SECONDS):
        await queue.acknowledge(held)
    await bed.redis.config_set("appendfsync", "always")
    assert (await queue.stats()).waiting == 0
