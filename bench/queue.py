"""`./dev bench queue`: the queue engine by itself, measured in one run on a Redis of its own.

Each figure stands beside the noise of the machine at that moment, and each rate beside what Redis
does without any promise in the same run. With `--write`, the figures go into
docs/performance-queue.md: no figure gets there in another way.
"""

import argparse
import asyncio
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import uvloop

from bench.engine import depth, idle, page, peers, rates
from bench.engine.bed import PAYLOAD, open_bed, running_redis
from bench.rig import pages
from infra.dev.engines import Engines, RedisServer, find_engines
from infra.dev.options import bench as options

TASKS = 2000
IDLE_SECONDS = 10.0


async def measure_engine(server: RedisServer, arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure what needs nothing but Redis."""
    bed = await open_bed(server)
    found: dict[str, Any] = {}
    if "rates" in arguments.parts:
        print("measuring rates …", flush=True)
        found["rates"] = await rates.measure(bed, arguments.share)
    if "depth" in arguments.parts:
        print(f"measuring depth, up to {arguments.messages:,} waiting …", flush=True)
        found["depth"] = await depth.measure(bed, arguments.messages)
    await bed.redis.aclose()
    return found


def measure(engines: Engines, folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    results: dict[str, Any] = {
        "payload_bytes": len(PAYLOAD),
        "redis": str(engines.redis),
        "loop": f"uvloop {version('uvloop')}",
    }
    with running_redis(engines, folder / "redis") as server:
        results |= uvloop.run(measure_engine(server, arguments))
        if "peers" in arguments.parts:
            print("measuring other queues …", flush=True)
            results["peers"] = peers.measure(server.url(), TASKS)
    if "idle" in arguments.parts:
        print("measuring an idle pool …", flush=True)
        results["idle"] = asyncio.run(idle.measure(folder / "stack", IDLE_SECONDS))
    return results


def main() -> None:
    arguments = options.queue().parse_args()
    arguments.parts = arguments.parts or options.QUEUE_PARTS
    with tempfile.TemporaryDirectory(prefix="gatepost-bench-") as folder:
        results = measure(find_engines(), Path(folder), arguments)
    text = page.render(results)
    print(text)
    pages.keep("queue", results, text, write=arguments.write)


if __name__ == "__main__":
    main()
