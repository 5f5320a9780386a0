"""The number of undelivered messages in each domain's queue, and the limit above which intake says
no (I11).

Nothing that was accepted is discarded to make room: the sender is asked to come back.
"""

import asyncio

from gatepost.errors import Backlogged
from gatepost.loops import pause
from gatepost.queue import QueueError, Queues
from gatepost.wire.bundle import KnownDomain
from proxy.senders import Senders

LOOK_SECONDS = 0.5
RETRY_AFTER_SECONDS = 5


class Depths:
    def __init__(self, processes: int = 1) -> None:
        self._processes = processes
        self._waiting: dict[str, int] = {}
        self._seen: dict[str, int] = {}
        self._before: dict[str, int] = {}

    def saw(self, domain: str, waiting: int) -> None:
        self._before[domain] = self._accepted(domain)
        self._seen[domain] = self._waiting[domain] = waiting

    def accepted(self, domain: KnownDomain) -> None:
        """Count a message on top of the last look, once for each process: Redis may stay silent."""
        self._waiting[domain.name] = self._waiting.get(domain.name, 0) + self._processes

    def totals(self) -> dict[str, dict[str, int]]:
        """Return what was accepted here since the start, by domain: it follows from what counted on
        top of each look, so that it costs a message nothing."""
        return {"accepted": {domain: self._accepted(domain) for domain in self._waiting}}

    def _accepted(self, domain: str) -> int:
        on_top = self._waiting.get(domain, 0) - self._seen.get(domain, 0)
        return self._before.get(domain, 0) + on_top // self._processes

    def check(self, domain: KnownDomain) -> None:
        """Raise Backlogged if the domain's queue is full."""
        if self._waiting.get(domain.name, 0) >= domain.max_undelivered:
            raise Backlogged(retry_after=RETRY_AFTER_SECONDS)


async def depths_loop(
    stop: asyncio.Event, senders: Senders, queues: Queues, depths: Depths
) -> None:
    while not stop.is_set():
        for domain in senders.domains:
            try:
                stats = await queues.named(domain.queue).stats()
            except QueueError:
                break  # what was seen last stands
            depths.saw(domain.name, stats.waiting)
        await pause(stop, LOOK_SECONDS)
