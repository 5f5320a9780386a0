"""The last news of each process: that it is there, how it says that it is, and what it has done.

Each main server listens for itself. A process that has said nothing for a while is shown as silent,
then forgotten.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from redis.asyncio import Redis
from redis.exceptions import RedisError

from gatepost.decoding import Undecodable
from gatepost.loops import pause
from gatepost.wire.vitals import CHANNEL, MOST_BYTES, Answered, Vitals, decode_vitals

SILENT_SECONDS, FORGOTTEN_SECONDS = 4.0, 60.0
MOST_PROCESSES = 1_000
LISTEN_SECONDS, AGAIN_SECONDS = 0.5, 1.0
KINDS = ("accepted", "delivered", "retried", "failed")


@dataclass(slots=True)
class Known:
    """A process: what it said last and when that was heard, and which of its totals were counted
    already."""

    vitals: Vitals
    heard: float
    counted: Vitals


@dataclass(frozen=True, slots=True)
class Counted:
    """The messages of one domain since the last time: how many, and how many a second."""

    count: int = 0
    per_second: float = 0.0

    def __add__(self, other: "Counted") -> "Counted":
        return Counted(self.count + other.count, self.per_second + other.per_second)


Flows = dict[tuple[str, str], Counted]
"""The counts by kind and domain."""


class Heard:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[str, Known] = {}
        self._left: deque[Vitals] = deque(maxlen=MOST_PROCESSES)

    def hear(self, data: bytes) -> None:
        """Take what a process says. Whoever may publish may say anything: what isn't to be believed
        is passed over."""
        if len(data) > MOST_BYTES:
            return
        try:
            vitals = decode_vitals(data)
        except Undecodable:
            return
        known = self._known.get(vitals.process)
        if vitals.leaving:
            self._known.pop(vitals.process, None)
            self._left.append(vitals)
        elif known is not None:
            known.vitals, known.heard = vitals, self._clock()
        elif len(self._known) < MOST_PROCESSES:
            self._known[vitals.process] = Known(vitals, self._clock(), vitals)

    def processes(self) -> list[tuple[Vitals, float]]:
        """Return the processes, each with the seconds since it was heard, in an order that
        stays."""
        now = self._clock()
        for process in [p for p, k in self._known.items() if now - k.heard > FORGOTTEN_SECONDS]:
            del self._known[process]
        found = [(known.vitals, now - known.heard) for known in self._known.values()]
        return sorted(found, key=lambda one: (one[0].service, one[0].machine, one[0].pid))

    def answers(self) -> dict[str, Answered]:
        """Return how long each process's answers took, as it said last; those that have left since
        the last call are included."""
        left = [self._left.popleft() for _ in range(len(self._left))]
        every = [*left, *(known.vitals for known in self._known.values())]
        return {one.process: one.answered for one in every if one.answered is not None}

    def take(self) -> Flows:
        """Return what was done since this was last called.

        The rate goes by the time that each process says has passed for it: what one did while it
        couldn't be heard comes as its average, and not all at once.
        """
        flows: Flows = {}
        for known in self._known.values():
            seconds = (known.vitals.up_ms - known.counted.up_ms) / 1000
            if seconds <= 0:
                continue
            for kind in KINDS:
                before = known.counted.totals.get(kind, {})
                for domain, total in known.vitals.totals.get(kind, {}).items():
                    if (more := total - before.get(domain, 0)) > 0:
                        flow = flows.get((kind, domain), Counted())
                        flows[kind, domain] = flow + Counted(more, more / seconds)
            known.counted = known.vitals
        return flows


async def heard_loop(stop: asyncio.Event, redis: Redis, heard: Heard) -> None:
    while not stop.is_set():
        try:
            async with redis.pubsub(ignore_subscribe_messages=True) as channel:
                await channel.subscribe(CHANNEL)
                while not stop.is_set():
                    if message := await channel.get_message(timeout=LISTEN_SECONDS):
                        heard.hear(message["data"])
        except (RedisError, OSError):
            await pause(stop, AGAIN_SECONDS)
