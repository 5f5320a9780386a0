"""What a worker pool costs that has nothing to do: commands to Redis, and CPU.

Measured on a whole stack at rest, so that it is the real pool: its waits, its upkeep, its heart
beat.
"""

import asyncio
import subprocess
from pathlib import Path
from typing import Any

from redis.asyncio import Redis

from bench.rig.machine import cpu_seconds, noise
from gatepost.queue import connect
from infra.dev.stack import Stack

USER = "gatepost_worker"
REST_SECONDS = 3.0


async def measure(folder: Path, seconds: float) -> dict[str, Any]:
    """Return commands a second of the pool, and the share of a core that it and Redis take."""
    with Stack(folder) as stack:
        status = stack.status()
        pids = {name: _family(status["pids"][name][0]) for name in ("worker", "redis")}
        redis = connect(status["redis"])
        await asyncio.sleep(REST_SECONDS)
        quiet, before = noise(), cpu_seconds(pids)
        commands = await _commands_of(redis, USER, seconds)
        after = cpu_seconds(pids)
        await redis.aclose()
    return {
        "processes": len(pids["worker"]),
        "commands_per_second": round(commands / seconds, 1),
        "pool_core_share": round((after["worker"] - before["worker"]) / seconds, 4),
        "redis_core_share": round((after["redis"] - before["redis"]) / seconds, 4),
        "noise": quiet,
    }


async def _commands_of(redis: Redis, user: str, seconds: float) -> int:
    """Count what that user asks, as MONITOR shows it; what scripts do doesn't count."""
    seen: list[str] = []

    async def watch() -> None:
        async with redis.monitor() as monitor:
            async for line in monitor.listen():
                if line["client_type"] == "tcp":
                    seen.append(f"{line['client_address']}:{line['client_port']}")

    watching = asyncio.create_task(watch())
    await asyncio.sleep(seconds)
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)
    clients = {client["addr"] for client in await redis.client_list() if client["user"] == user}
    return sum(address in clients for address in seen)


def _family(pid: int) -> list[int]:
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False)
    return [pid, *map(int, found.stdout.split())]
