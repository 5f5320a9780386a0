"""The collection of samples for all who look, one in each process of the main server: a sample
every two seconds.

Redis is asked for the queues, the ledger now and then for the domains and certificates. Each has a
loop of its own, so that a store that hangs holds up neither the other nor whoever looks.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from redis.asyncio import Redis
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from gatepost.clock import Clock, from_ms
from gatepost.loops import Loops, pause
from gatepost.queue import QueueError, Queues, Stats
from gatepost.service.ops import Checks
from gatepost.wire.vitals import Vitals
from main_server.health.overview import repository
from main_server.health.overview.heard import Counted, Flows, Heard, heard_loop
from main_server.health.overview.repository import Survey
from main_server.health.watching.gauges import PauseMetrics, QueueMetrics
from main_server.store.database import Ledger, transact

SAMPLE_SECONDS, SURVEY_SECONDS = 2.0, 10.0
KEPT = 300
"""The number of samples kept: ten minutes of them."""
QUEUES_SECONDS = 1.0


@dataclass(frozen=True)
class Sample:
    """A sample. `flows` is None before anything could be counted, `queues` where Redis didn't
    answer.

    Sums over all domains are made once, for everybody who looks: there may be a thousand domains.
    """

    flows: Flows | None
    queues: dict[str, Stats] | None

    @cached_property
    def in_all(self) -> dict[str, Counted]:
        """The flows of all domains together, by kind."""
        sums: dict[str, Counted] = {}
        for (kind, _), counted in (self.flows or {}).items():
            sums[kind] = sums.get(kind, Counted()) + counted
        return sums

    @cached_property
    def troubles(self) -> Counter[tuple[str, str]]:
        """The numbers of retried and failed messages, by kind and domain; mostly there are few of
        either."""
        flows = (self.flows or {}).items()
        return Counter({key: one.count for key, one in flows if key[0] in ("retried", "failed")})

    @cached_property
    def waiting(self) -> int | None:
        """The number of messages that wait in all queues."""
        return None if self.queues is None else sum(one.waiting for one in self.queues.values())


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of everything at a moment; who looks decides what of it is shown. The last of the
    `samples` is the latest; `processes` come with the seconds since they were heard."""

    at_ms: int
    checks: Checks
    processes: list[tuple[Vitals, float]]
    samples: Sequence[Sample]
    survey: Survey | None
    default_queue: str

    def queue_of(self, name: str | None) -> str:
        return name or self.default_queue


class Collector:
    def __init__(
        self,
        queues: Queues,
        ledger: Ledger,
        clock: Clock,
        checks: Callable[[], Checks],
    ) -> None:
        self.heard = Heard()
        self._queues = queues
        self._ledger = ledger
        self._clock = clock
        self._checks = checks
        self._samples: deque[Sample] = deque(maxlen=KEPT)
        self._survey: Survey | None = None

    def start(self, loops: Loops, stop: asyncio.Event, redis: Redis) -> None:
        loops.start(heard_loop(stop, redis, self.heard))
        loops.start(self.sample_loop(stop))
        loops.start(self.survey_loop(stop))

    def snapshot(self) -> Snapshot:
        return Snapshot(
            self._clock.now_ms(),
            self._checks(),
            self.heard.processes(),
            list(self._samples),
            self._survey,
            self._queues.full_name(None),
        )

    async def sample(self) -> Sample:
        queues = await self._ask_queues()
        flows = self.heard.take()
        known = queues is not None and any(True for _ in self.heard.processes())
        made = Sample(flows if known else None, queues)
        _ = made.in_all, made.troubles, made.waiting  # a few now, not all when somebody looks
        self._samples.append(made)
        return made

    async def survey(self) -> Survey | None:
        """Take a survey and return it; None if the ledger can't be asked, and then the last one
        stays."""
        with suppress(SQLAlchemyError):  # the checks say so
            self._survey = await self._ledger.run(_survey, self._clock)
            return self._survey
        return None

    async def sample_loop(self, stop: asyncio.Event) -> None:
        metrics = QueueMetrics()
        while not stop.is_set():
            metrics.show((await self.sample()).queues)
            await pause(stop, SAMPLE_SECONDS)

    async def survey_loop(self, stop: asyncio.Event) -> None:
        metrics = PauseMetrics()
        while not stop.is_set():
            found = await self.survey()
            metrics.show(found.pauses if found else None)
            await pause(stop, SURVEY_SECONDS)

    async def _ask_queues(self) -> dict[str, Stats] | None:
        names: set[str | None] = {None}
        if self._survey is not None:
            names |= {one.queue for one in self._survey.domains} | set(self._survey.left)
        try:
            async with asyncio.timeout(QUEUES_SECONDS):
                return {
                    name: await self._queues.named(name).stats()
                    for name in {self._queues.full_name(one) for one in names}
                }
        except (QueueError, TimeoutError):
            return None


def _survey(engine: Engine, clock: Clock) -> Survey:
    return transact(engine, lambda c: repository.survey(c, from_ms(clock.now_ms())))
