"""Figures of Redis that operators should see coming: memory, the append-only file, and how long its
flushes to disk take, for which every sender waits (I1).

Redis notes each second's longest flush past its own `latency-monitor-threshold`; it counts delayed
ones only under `everysec`, which isn't ours.
"""

from collections.abc import Mapping
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import NoPermissionError, ResponseError

FLUSH, THRESHOLD = "aof-fsync-always", "latency-monitor-threshold"
WITHIN_SECONDS = 60
WORDS = {
    "memory_bytes": "Memory that Redis uses",
    "memory_limit_bytes": "Memory that Redis may use; 0 is without a limit",
    "aof_bytes": "Size of the append-only file",
    "aof_ok": "Whether the last write to the append-only file and its last rewrite went well",
    "clients": "Connections to Redis",
    "fsync_seconds": "The longest flush of the last minute; 0 if all were quick",
}


async def read_figures(redis: Redis) -> dict[str, float | None]:
    """Read the figures; raise RedisError if Redis doesn't answer. What our user may not see is
    None."""
    said: Mapping[str, Any] = await redis.info()
    well = {said.get("aof_last_write_status"), said.get("aof_last_bgrewrite_status")} == {"ok"}
    return {
        "memory_bytes": said.get("used_memory"),
        "memory_limit_bytes": said.get("maxmemory"),
        "aof_bytes": said.get("aof_current_size"),
        "aof_ok": float(well),
        "clients": said.get("connected_clients"),
        "fsync_seconds": await _longest_flush(redis, int(said["server_time_usec"]) // 1_000_000),
    }


async def _longest_flush(redis: Redis, now: int) -> float | None:
    raw: Any = redis  # its types don't know the command
    try:
        noted = await redis.config_get(THRESHOLD)
        if noted.get(THRESHOLD, "0") == "0":
            return None  # nothing is noted, which doesn't mean that all is well
        history: list[tuple[int, int]] = await raw.execute_command("LATENCY HISTORY", FLUSH)
    except (NoPermissionError, ResponseError):
        return None
    return max((ms for at, ms in history if at > now - WITHIN_SECONDS), default=0) / 1000
