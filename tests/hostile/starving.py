"""A process whose loop has no time for anything: how old its view of revocation gets meanwhile.

Old is what refuses everybody (I8), so an answer of 503 to all is what a flood would come to.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from gatepost.logs import Log
from gatepost.loops import Loops
from gatepost.service.revocation import start_watch
from gatepost.service.revocation_sources import Connect, Open
from gatepost.trust.revoked import Revoked
from tests.heard import until


@dataclass(frozen=True, slots=True)
class Starved:
    """What there was to see from a loop that was busy all the time."""

    seconds: float
    confirmed: int
    """How often the view was found to be confirmed anew."""
    oldest: float
    """Seconds that it had not been, at the most."""
    refusing: float
    """Of the looks at it, the share at which it refused everybody."""


@asynccontextmanager
async def watched(
    log: Log, view: Revoked, connect: Connect | None, sources: Sequence[Open]
) -> AsyncIterator[None]:
    """A view that is kept fresh as in a service, from when it is."""
    stop = asyncio.Event()
    async with Loops(stop) as loops:
        start_watch(loops, stop, log, view, connect, sources)
        try:
            await until(lambda: view.problem is None)
            yield
        finally:
            stop.set()


def starve(
    view: Revoked, seconds: float, enough: Callable[[int], bool] = lambda _: False
) -> Starved:
    """Computes for so long on the thread in which it is called, without giving the loop a turn; or
    until it is enough, by how often the view was confirmed meanwhile."""
    began = now = time.monotonic()
    last, confirmed, oldest, looks, refusals = view._confirmed, 0, 0.0, 0, 0
    while now - began < seconds and not enough(confirmed):
        sum(n * n for n in range(1000))
        now = time.monotonic()
        confirmed += view._confirmed > last
        last = view._confirmed
        oldest = max(oldest, now - last)
        looks += 1
        refusals += view.problem is not None
    return Starved(now - began, confirmed, oldest, refusals / max(1, looks))
