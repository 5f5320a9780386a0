"""Background loops: each is `async def x_loop(stop, …)`, all of a process run in one TaskGroup.

If a loop dies the process dies loudly and is started again by its supervisor: nothing limps on.
"""

import asyncio
import random
from collections.abc import Iterator


async def pause(stop: asyncio.Event, seconds: float) -> None:
    """Wait so long, or until it is time to stop."""
    try:
        async with asyncio.timeout(seconds):
            await stop.wait()
    except TimeoutError:
        pass


def backoff(first: float, cap: float) -> Iterator[float]:
    """Waits that double up to a cap, with jitter so that many don't come back at once."""
    wait = first
    while True:
        yield wait * random.uniform(0.5, 1.0)
        wait = min(wait * 2, cap)
