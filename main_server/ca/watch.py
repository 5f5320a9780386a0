"""Watch which certificates are revoked, in one process of the main server, and help to tell others.

The ledger alone says so here. What it says is put into Redis whenever Redis has less: because it
was away at a revocation, was wiped, or went back in time.
"""

import asyncio
from contextlib import AsyncExitStack
from functools import partial

from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from gatepost.clock import Clock
from gatepost.logs import Log
from gatepost.loops import Loops, pause
from gatepost.queue import connect
from gatepost.service.live import Live
from gatepost.service.replaced import Replaced
from gatepost.service.revocation import ANSWER_SECONDS, POLL_SECONDS, start_watch
from gatepost.service.revocation_sources import Source
from gatepost.trust.revocation import KEY, Revocations
from main_server.ca.revocation import highest_number, publish
from main_server.ca.revoked.source import LedgerSource
from main_server.settings import MainServerSettings


class Watch:
    def __init__(self, log: Log, settings: MainServerSettings, clock: Clock) -> None:
        self._log = log
        self._latest: Revocations | None = None
        self._replaced = replaced = Replaced(log)
        self.revoked = replaced.open_view(settings.tls.ca_file, clock)
        self.live = Live(log)
        self.revoked.when_revoked(self.live.cut)
        self.source = LedgerSource(settings.database)
        self._heard = partial(connect, settings.redis.address(), 1)
        self.port = replaced.open_port(settings.tls.files(), self.live)

    def start(self, loops: Loops, stop: asyncio.Event, redis: Redis) -> None:
        start_watch(loops, stop, self._log, self.revoked, self._heard, [self._asked], self._keep)
        loops.start(self._publish_loop(stop, redis))
        loops.start(self._replaced.loop(stop))

    async def _asked(self, _: AsyncExitStack) -> Source:
        return self.source

    def _keep(self, state: Revocations) -> None:
        self._latest = state

    async def _publish_loop(self, stop: asyncio.Event, redis: Redis) -> None:
        while not stop.is_set():
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    if self._latest and await put(redis, self._latest):
                        self._log.info("revocations.published")
            except (RedisError, TimeoutError):
                pass  # the watch over Redis says so
            await pause(stop, POLL_SECONDS)


async def put(redis: Redis, state: Revocations) -> bool:
    """Publish the state if Redis has less, which costs little to see, or what can't be true."""
    try:
        number = await redis.hget(KEY, "number") or b""
    except ResponseError:  # it is of another type
        number = b""
    if number.isdigit() and state.number <= int(number) <= highest_number(state):
        return False
    return await publish(redis, state)
