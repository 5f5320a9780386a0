"""Keeps a process's view of revoked certificates fresh: sources are polled, and there is a wake-up.

Each source is asked every POLL_SECONDS, by itself: one that hangs holds no other up. The wake-up
only has them asked sooner, and decides nothing. All of it has a thread and connections of its own:
a process that has too much to do is slow, and not closed because its view has grown old.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, suppress

from prometheus_client import Gauge
from redis.asyncio import Redis
from redis.exceptions import RedisError

from gatepost.logs import Log
from gatepost.loops import Loops, pause
from gatepost.service.revocation_sources import Connect, NoAnswer, Open, Source
from gatepost.service.threads import thread_loop
from gatepost.trust.revocation import CHANNEL, Revocations
from gatepost.trust.revoked import NotBelieved, Revoked

POLL_SECONDS = 0.25
ANSWER_SECONDS = 1.0
LISTEN_SECONDS, AGAIN_SECONDS = 0.5, 1.0
"""Seconds for which a wake-up is listened for at a time, which holds a stop up; and until it is
tried again."""


class Bell:
    """A bell that wakes all who wait for it. Nobody misses a ring by being busy meanwhile."""

    def __init__(self) -> None:
        self._next = asyncio.Event()

    def next(self) -> asyncio.Event:
        """Return an event that is set with the next ring."""
        return self._next

    def ring(self) -> None:
        self._next.set()
        self._next = asyncio.Event()


class Poller:
    """One source of a view, and what was last heard of it."""

    def __init__(
        self,
        source: Source,
        view: Revoked,
        keep: Callable[[Revocations], None] = lambda _: None,
        reading: asyncio.Lock | None = None,
    ) -> None:
        """Poll `source` for `view`. `reading` is shared by the sources of a view: what one has
        read, the others needn't."""
        self.source = source
        self._reading = reading or asyncio.Lock()
        self._view = view
        self._keep = keep
        self._seen: int | None = None
        self._version = -1
        """The view's version when this source last agreed with it. If another source has moved the
        view on since, this one is asked for everything: it may be the one that is behind."""

    async def poll(self) -> bool:
        """Ask the source, and return whether the view has changed by it; raise NoAnswer or
        NotBelieved."""
        asked, before = time.monotonic(), self._view.version
        async with asyncio.timeout(ANSWER_SECONDS):
            state = await self.source.ask(self._seen if self._version == before else None)
        if state is not None:
            async with self._reading:
                before, pins = self._view.version, self._view.pins
                lists = await asyncio.to_thread(self._view.read, state)
                taken = self._view.take(lists)
            self._seen = state.number
            # Whom we have come to trust meanwhile was read by nobody: then it is asked for again.
            self._version = taken if self._view.pins is pins else -1
        if self._version == self._view.version:
            self._view.confirm(asked)
        changed = before != self._view.version
        if changed and state is not None:
            self._keep(state)
        return changed


class RevocationMetrics:
    """The metrics of revocation; made once the metrics folder is known, hence not at import."""

    def __init__(self) -> None:
        self._age = Gauge(
            "gatepost_crl_age_seconds",
            "Since the list of revoked certificates in use was signed",
            multiprocess_mode="livemax",
        )
        self._left = Gauge(
            "gatepost_crl_seconds_left",
            "Until the list of revoked certificates in use is past its time, and all are refused",
            multiprocess_mode="livemin",
        )

    def observe(self, view: Revoked) -> None:
        self._age.set(view.age_seconds)
        self._left.set(view.seconds_left)


async def poll_loop(
    stop: asyncio.Event, log: Log, poller: Poller, view: Revoked, bell: Bell
) -> None:
    name, missed = poller.source.name, None
    while not stop.is_set():
        rung, problem = bell.next(), None
        try:
            if await poller.poll():
                log.info("revocations.learned", source=name, revoked=len(view.serials))
        except (NoAnswer, NotBelieved) as error:
            problem = str(error)
        except TimeoutError:
            problem = f"no answer within {ANSWER_SECONDS:.0f} s"
        if problem != missed:
            (log.warning if problem else log.info)(
                "revocations.source", source=name, problem=problem
            )
        missed = problem
        with suppress(TimeoutError):
            async with asyncio.timeout(POLL_SECONDS):
                await rung.wait()


async def wake_up_loop(stop: asyncio.Event, redis: Redis, bell: Bell) -> None:
    """Ring when something is published. Missing it costs the wait for the next poll, no more."""
    while not stop.is_set():
        try:
            async with redis.pubsub(ignore_subscribe_messages=True) as channel:
                await channel.subscribe(CHANNEL)
                while not stop.is_set():
                    if await channel.get_message(timeout=LISTEN_SECONDS):
                        bell.ring()
        except (RedisError, OSError):
            await pause(stop, AGAIN_SECONDS)


async def watch_loop(stop: asyncio.Event, view: Revoked, metrics: RevocationMetrics) -> None:
    while not stop.is_set():
        metrics.observe(view)
        await pause(stop, 1.0)


def start_watch(
    loops: Loops,
    stop: asyncio.Event,
    log: Log,
    view: Revoked,
    connect: Connect | None,
    sources: Sequence[Open],
    keep: Callable[[Revocations], None] = lambda _: None,
) -> None:
    """Start all that keeps a view fresh; `keep` is given each state that has changed it, in the
    thread of its own in which all of this runs.

    Without a Redis nothing wakes it up: the view is as fresh as its sources are asked often.
    """

    async def keep_fresh(stop: asyncio.Event) -> None:
        bell, reading = Bell(), asyncio.Lock()
        async with AsyncExitStack() as stack, Loops(stop) as inner:
            for opened in sources:
                poller = Poller(await opened(stack), view, keep, reading)
                inner.start(poll_loop(stop, log, poller, view, bell))
            if connect is not None:
                redis = await stack.enter_async_context(connect())
                inner.start(wake_up_loop(stop, redis, bell))

    loops.start(thread_loop(stop, "revocations", keep_fresh))
    loops.start(watch_loop(stop, view, RevocationMetrics()))
