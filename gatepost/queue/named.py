"""The queues of one Redis by their names: each domain may have its own."""

import asyncio
from collections.abc import Container, Iterable

from gatepost.queue.messages import Delivery
from gatepost.queue.queues import Queue
from gatepost.queue.scripts import Client
from gatepost.queue.signals import Doorbell


class Queues:
    """The queues by name, each made once; None is the name of the default one."""

    def __init__(self, redis: Client, default: str) -> None:
        self._redis = redis
        self._default = default
        self._queues: dict[str, Queue] = {}

    def full_name(self, name: str | None) -> str:
        """Return the name of a queue, the default one's for None."""
        return name or self._default

    def named(self, name: str | None) -> Queue:
        """Return the queue of that name."""
        full = self.full_name(name)
        if full not in self._queues:
            self._queues[full] = Queue(self._redis, full)
        return self._queues[full]


class Turns:
    """Several queues served in turn, so that one domain's flood doesn't starve another.

    Nothing is reserved from those that are paused; they are kept going all the same, so that what
    waits there expires at its time (I5).
    """

    def __init__(self, redis: Client) -> None:
        self._redis = redis
        self._queues: list[Queue] = []
        self._paused: list[Queue] = []
        self._next = 0
        self._doorbell: Doorbell | None = None
        self._told = asyncio.Event()

    @property
    def queues(self) -> list[Queue]:
        return list(self._queues)

    @property
    def paused(self) -> list[str]:
        return [queue.name for queue in self._paused]

    async def serve(self, queues: Iterable[Queue], paused: Container[str] = ()) -> None:
        """Serve these queues from now on, and pause those of these names. Changing nothing costs
        nothing."""
        wanted = list(queues)
        resting = [queue for queue in wanted if queue.name in paused]
        if (wanted, resting) == (self._queues, self._paused):
            return
        if self._doorbell is not None:
            await self._doorbell.aclose()
        self._queues, self._paused = wanted, resting
        self._doorbell = None
        self._told.clear()
        if served := [queue for queue in wanted if queue not in resting]:
            self._doorbell = Doorbell(self._redis, [s for queue in served for s in queue.signals])
            self._told.set()

    async def reserve(
        self, limit: int, lease_seconds: float, but: Container[Queue] = ()
    ) -> tuple[Queue, list[Delivery]] | None:
        """Take a batch from the next queue that has something and isn't in `but`; None if none
        has."""
        for _ in range(len(self._queues)):
            queue = self._queues[self._next % len(self._queues)]
            self._next += 1
            if queue in but or queue in self._paused:
                continue
            if deliveries := await queue.reserve(limit, lease_seconds):
                return queue, deliveries
        return None

    async def wait(self, timeout_seconds: float) -> bool:
        """Wait for something to be ready in any of the queues; False if nothing was heard."""
        if self._doorbell is not None:
            return await self._doorbell.wait(timeout_seconds)
        try:
            async with asyncio.timeout(timeout_seconds):
                return await self._told.wait()
        except TimeoutError:
            return False

    async def aclose(self) -> None:
        """Stop waiting."""
        if self._doorbell is not None:
            await self._doorbell.aclose()
