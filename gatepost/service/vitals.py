"""Publishes the vitals of a process. Nobody waits for it: a Redis that hangs costs a turn."""

import asyncio
import os
import secrets
import socket
import time
from collections.abc import Callable, Mapping

from redis.asyncio import Redis
from redis.exceptions import RedisError

from gatepost import __version__
from gatepost.clock import Clock
from gatepost.loops import Loops, pause
from gatepost.service.clocks import clocks_loop
from gatepost.service.ops import Checks
from gatepost.service.supervisor import Child
from gatepost.wire.vitals import (
    CHANNEL,
    EVERY_SECONDS,
    MOST_CHARACTERS,
    Answered,
    Vitals,
    encode_vitals,
)

ANSWER_SECONDS = 1.0
GOODBYE_SECONDS = 0.25
Totals = Mapping[str, Mapping[str, int]]


class Voice:
    """One process, as it speaks of itself."""

    def __init__(
        self,
        service: str,
        checks: Callable[[], Checks],
        totals: Callable[[], Totals] = dict,
        answered: Callable[[], Answered | None] = lambda: None,
    ) -> None:
        self.checks = checks
        self._service = service
        self._totals = totals
        self._answered = answered
        self._process = secrets.token_hex(8)
        self._machine = socket.gethostname()
        self._began = time.monotonic()

    def vitals(self, *, leaving: bool = False) -> Vitals:
        return Vitals(
            process=self._process,
            service=self._service,
            machine=self._machine,
            pid=os.getpid(),
            version=__version__,
            up_ms=int((time.monotonic() - self._began) * 1000),
            checks={name: (one.ok, _cut(one.detail)) for name, one in self.checks().items()},
            totals={what: dict(of_each) for what, of_each in self._totals().items()},
            answered=self._answered(),
            leaving=leaving,
        )


def _cut(detail: str | None) -> str | None:
    """Cut a detail short, so that nobody falls silent by having much to say."""
    return detail and detail[:MOST_CHARACTERS]


def start_speaking(loops: Loops, child: Child, redis: Redis, voice: Voice, *clocks: Clock) -> None:
    """Start to tell the supervisor and whoever listens how this process is, and Prometheus of its
    clocks."""
    loops.start(child.heart_loop(voice.checks))
    loops.start(vitals_loop(child.stop, redis, voice))
    loops.start(clocks_loop(child.stop, *clocks))


async def vitals_loop(stop: asyncio.Event, redis: Redis, voice: Voice) -> None:
    while not stop.is_set():
        await _say(redis, voice.vitals(), ANSWER_SECONDS)
        await pause(stop, EVERY_SECONDS)
    await _say(redis, voice.vitals(leaving=True), GOODBYE_SECONDS)


async def _say(redis: Redis, vitals: Vitals, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await redis.publish(CHANNEL, encode_vitals(vitals))
    except (RedisError, OSError, TimeoutError):
        pass  # the next turn says all of it
