"""Limits on how fast a client may send, and ask: a token bucket for either, shared by all proxy
processes. A client that sends as fast as it may can still ask what became of it.

The buckets are in Redis; a process draws tokens from them ahead of the requests that use them, so
that most requests cost no call. Without Redis each process grants its share of the rate by itself.
"""

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from redis.asyncio import Redis

from gatepost.errors import RateLimited
from gatepost.queue import QueueError, typed_errors
from gatepost.wire.bundle import KnownClient
from proxy.settings import RateLimiting

AHEAD_SECONDS = 0.05
"""The seconds' worth of tokens that are drawn at once, and that may be parked in a process."""

DRAW_SECONDS, AGAIN_SECONDS = 0.25, 1.0
"""The seconds that a draw may take, and those after which a Redis that has not answered is asked
again: a Redis that hangs must not hold up what the ledger alone can accept."""

NEVER_SECONDS = 3600
"""The seconds after which to ask again where the rate is nothing."""

NOTHING = "This client may not send at all just now."

_SCRIPT = Path(__file__).parent / "lua" / "draw.lua"


class Use(StrEnum):
    """The use of a token, and the name of its policy in the header RateLimit."""

    SENDING = "client"
    ASKING = "asking"


_KEYS = {Use.SENDING: b"gatepost:rate:", Use.ASKING: b"gatepost:rate:asking:"}
_WORDS = {Use.SENDING: "send {:g} messages a second", Use.ASKING: "ask {:g} times a second"}
SLOWEST_ASKING = 1.0
"""The lowest rate for asking, a second: a client that may not send at all may still ask."""


@dataclass(frozen=True, slots=True)
class Grant:
    """The tokens a second, and how many can be saved up."""

    rate: float
    burst: float


@dataclass(slots=True)
class Bucket:
    """The tokens of a client that this process holds."""

    tokens: float = 0.0
    left: int = 0
    """The tokens in the shared bucket, as it was last seen; 0 while it can't be."""
    at: float | None = None
    """The time when tokens last came."""
    drawing: "asyncio.Task[float] | None" = None
    drawn_for: int = 1
    """The tokens that are wanted by whoever draws just now: where there are fewer, none is
    drawn."""


class Limits:
    def __init__(
        self,
        redis: Redis,
        processes: int,
        rules: RateLimiting,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rules = rules
        self._draw = redis.register_script(_SCRIPT.read_text())
        self._share = 1 / processes
        self._clock = clock
        self._buckets: dict[tuple[Use, str], Bucket] = {}
        self._ask_at = 0.0

    async def take(self, client: KnownClient, count: int = 1, use: Use = Use.SENDING) -> int:
        """Take as many tokens or none, and return about how many are left; raise RateLimited if
        there are too few."""
        granted = self.granted(client, use)
        if not self._rules.enabled:
            return int(granted.burst)
        if not granted.rate:
            raise RateLimited(NOTHING, retry_after=NEVER_SECONDS)
        key = use, client.identity.client_id
        bucket = self._buckets.setdefault(key, Bucket())
        while bucket.tokens < count:
            if bucket.drawing is None:
                bucket.drawn_for = count
                bucket.drawing = asyncio.create_task(self._refill(key, granted, bucket))
            enough_for = bucket.drawn_for
            wait_ms = await asyncio.shield(bucket.drawing)
            if wait_ms and count >= enough_for:
                raise RateLimited(
                    f"This client may {_WORDS[use].format(granted.rate)}.",
                    retry_after=max(1, math.ceil(wait_ms / 1000)),
                )
        bucket.tokens -= count
        return bucket.left + int(bucket.tokens)

    def at_most(self, client: KnownClient, count: int) -> int:
        """Return `count`, or half of what could ever be taken at once if that is less: a client
        that sends all the time has a bucket that is never full. Without Redis it goes by this
        process's share."""
        return min(count, max(1, int(self.granted(client).burst * self._share / 2)))

    def left(self, client: KnownClient) -> int:
        """Return about how many tokens for sending are left, without taking one."""
        if not self._rules.enabled:
            return int(self.granted(client).burst)
        bucket = self._buckets.get((Use.SENDING, client.identity.client_id))
        return bucket.left + int(bucket.tokens) if bucket else 0

    def granted(self, client: KnownClient, use: Use = Use.SENDING) -> Grant:
        """Return what the ledger grants, under this proxy's own ceiling; for asking it is the
        same."""
        rate, burst = float(client.rate_per_second), float(client.burst)
        if self._rules.max_requests is not None:
            rate = min(rate, self._rules.max_requests / self._rules.window_seconds)
            burst = min(burst, self._rules.max_requests)
        if use is Use.ASKING:
            rate = max(rate, SLOWEST_ASKING)
        return Grant(rate, max(1.0, burst))

    async def _refill(self, key: tuple[Use, str], granted: Grant, bucket: Bucket) -> float:
        """Draw tokens; return 0, or the milliseconds until there will be enough."""
        try:
            answer = await self._ask(key, granted, bucket)
        finally:
            bucket.drawing = None
        if answer is None:
            drawn, wait_ms = self._own_share(granted, bucket)
            bucket.left = 0
        else:
            drawn, bucket.left, wait_ms = answer
            bucket.at = self._clock()
        bucket.tokens += drawn
        return wait_ms

    async def _ask(
        self, key: tuple[Use, str], granted: Grant, bucket: Bucket
    ) -> tuple[float, int, float] | None:
        """Return what the shared bucket gives: tokens, how many are left there, ms until there are
        enough.

        Return None while Redis is silent.
        """
        if self._clock() < self._ask_at:
            return None
        least = math.ceil(bucket.drawn_for - bucket.tokens)
        wanted = max(least, int(granted.rate * AHEAD_SECONDS))
        use, client_id = key
        try:
            with typed_errors():
                async with asyncio.timeout(DRAW_SECONDS):
                    drawn, left, wait_ms = await self._draw(
                        keys=[_KEYS[use] + client_id.encode()],
                        args=[granted.rate, granted.burst, wanted, least],
                    )
        except QueueError:
            self._ask_at = self._clock() + AGAIN_SECONDS
            return None
        return drawn, left, wait_ms

    def _own_share(self, granted: Grant, bucket: Bucket) -> tuple[float, float]:
        """Return what has flowed in since the last time, of our share of the rate: used without
        Redis."""
        rate, now, wanted = granted.rate * self._share, self._clock(), bucket.drawn_for
        since = now - 1.0 if bucket.at is None else bucket.at
        drawn = min(max(1.0, granted.burst * self._share), (now - since) * rate)
        if bucket.tokens + drawn < wanted:
            bucket.at = since  # what has flowed in so far is not lost by asking too early
            return 0.0, (wanted - bucket.tokens - drawn) / rate * 1000
        bucket.at = now
        return drawn, 0.0


def rate_headers(
    granted: Grant, left: int, wait: int = 1, use: Use = Use.SENDING
) -> list[tuple[bytes, bytes]]:
    """Return RateLimit and RateLimit-Policy, as the IETF's draft has them; more tokens come in
    `wait` seconds."""
    window = max(1, int(granted.burst / granted.rate)) if granted.rate else NEVER_SECONDS
    name = use.encode()
    return [
        (b"ratelimit-policy", b'"%b";q=%d;w=%d' % (name, granted.burst, window)),
        (b"ratelimit", b'"%b";r=%d;t=%d' % (name, max(0, left), wait)),
    ]
