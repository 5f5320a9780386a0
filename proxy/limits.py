"""How fast a client may send: one token bucket for each client, shared by all proxy processes.

The bucket is in Redis; a process draws tokens from it ahead of the messages that use them, so that
most messages cost no call. Without Redis each process grants its share of the rate by itself.
"""

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from redis.asyncio import Redis

from gatepost.bundle import KnownClient
from gatepost.errors import RateLimited
from gatepost.queue import QueueError, typed_errors
from proxy.settings import RateLimiting

AHEAD_SECONDS = 0.05
"""How many seconds' worth of tokens are drawn at once; what may be parked in a process."""

DRAW_SECONDS, AGAIN_SECONDS = 0.25, 1.0
"""How long a draw may take, and when Redis is asked again that has not answered: a Redis that hangs
must not hold up what the ledger alone can accept."""

NEVER_SECONDS = 3600
"""When to ask again where the rate is nothing."""

NOTHING = "This client may not send at all just now."

_SCRIPT = Path(__file__).parent / "lua" / "draw.lua"


@dataclass(frozen=True, slots=True)
class Grant:
    """Tokens a second, and how many can be saved up."""

    rate: float
    burst: float


@dataclass(slots=True)
class Bucket:
    """What this process holds of a client's tokens."""

    tokens: float = 0.0
    left: int = 0
    """In the shared bucket, as it was last seen; 0 while it can't be."""
    at: float | None = None
    """When tokens last came."""
    drawing: "asyncio.Task[float] | None" = None


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
        self._buckets: dict[str, Bucket] = {}
        self._ask_at = 0.0

    async def take(self, client: KnownClient) -> int:
        """Takes one token and says about how many are left; raises RateLimited."""
        granted = self.granted(client)
        if not self._rules.enabled:
            return int(granted.burst)
        if not granted.rate:
            raise RateLimited(NOTHING, retry_after=NEVER_SECONDS)
        bucket = self._buckets.setdefault(client.identity.client_id, Bucket())
        while bucket.tokens < 1:
            if bucket.drawing is None:
                bucket.drawing = asyncio.create_task(
                    self._refill(client.identity.client_id, granted, bucket)
                )
            wait_ms = await asyncio.shield(bucket.drawing)
            if wait_ms:
                raise RateLimited(
                    f"This client may send {granted.rate:g} messages a second.",
                    retry_after=max(1, math.ceil(wait_ms / 1000)),
                )
        bucket.tokens -= 1
        return bucket.left + int(bucket.tokens)

    def left(self, client: KnownClient) -> int:
        """About how many tokens are left, without taking one."""
        if not self._rules.enabled:
            return int(self.granted(client).burst)
        bucket = self._buckets.get(client.identity.client_id)
        return bucket.left + int(bucket.tokens) if bucket else 0

    def granted(self, client: KnownClient) -> Grant:
        """What the ledger grants, under this proxy's own ceiling."""
        rate, burst = float(client.rate_per_second), float(client.burst)
        if self._rules.max_requests is not None:
            rate = min(rate, self._rules.max_requests / self._rules.window_seconds)
            burst = min(burst, self._rules.max_requests)
        return Grant(rate, max(1.0, burst))

    async def _refill(self, client_id: str, granted: Grant, bucket: Bucket) -> float:
        """Draws tokens; 0, or the milliseconds until there will be one."""
        try:
            answer = await self._ask(client_id, granted)
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

    async def _ask(self, client_id: str, granted: Grant) -> tuple[float, int, float] | None:
        """What the shared bucket gives: tokens, how many are left there, ms until there is one.

        None while Redis is silent.
        """
        if self._clock() < self._ask_at:
            return None
        wanted = max(1, int(granted.rate * AHEAD_SECONDS))
        key = b"gatepost:rate:" + client_id.encode()
        try:
            with typed_errors():
                async with asyncio.timeout(DRAW_SECONDS):
                    drawn, left, wait_ms = await self._draw(
                        keys=[key], args=[granted.rate, granted.burst, wanted]
                    )
        except QueueError:
            self._ask_at = self._clock() + AGAIN_SECONDS
            return None
        return drawn, left, wait_ms

    def _own_share(self, granted: Grant, bucket: Bucket) -> tuple[float, float]:
        """Without Redis: what has flowed in since the last time, of our share of the rate."""
        rate, now = granted.rate * self._share, self._clock()
        since = now - 1.0 if bucket.at is None else bucket.at
        drawn = min(max(1.0, granted.burst * self._share), (now - since) * rate)
        if bucket.tokens + drawn < 1:
            bucket.at = since  # what has flowed in so far is not lost by asking too early
            return 0.0, (1 - bucket.tokens - drawn) / rate * 1000
        bucket.at = now
        return drawn, 0.0


def rate_headers(granted: Grant, left: int, wait: int = 1) -> list[tuple[bytes, bytes]]:
    """RateLimit and RateLimit-Policy, as the IETF's draft has them; more in `wait` seconds."""
    window = max(1, int(granted.burst / granted.rate)) if granted.rate else NEVER_SECONDS
    return [
        (b"ratelimit-policy", b'"client";q=%d;w=%d' % (granted.burst, window)),
        (b"ratelimit", b'"client";r=%d;t=%d' % (max(0, left), wait)),
    ]
