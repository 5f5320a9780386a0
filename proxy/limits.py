"""How fast a client may send: a token bucket for each client, in this process.

Each of the proxy's processes grants its share of the client's rate.
"""

import math
import time

from gatepost.bundle import KnownClient
from gatepost.errors import RateLimited
from proxy.settings import RateLimiting

_NEVER_SECONDS = 3600
"""When to ask again where the rate is nothing."""


class Limits:
    def __init__(self, processes: int, rules: RateLimiting) -> None:
        self._share = 1 / processes
        self._rules = rules
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, client: KnownClient, now: float | None = None) -> None:
        """Takes one token, or raises RateLimited with the time until there is one."""
        if not self._rules.enabled:
            return
        now = time.monotonic() if now is None else now
        granted, saved = self._granted(client)
        rate, burst = granted * self._share, max(1.0, saved * self._share)
        key = client.identity.client_id
        tokens, since = self._buckets.get(key, (burst, now))
        tokens = min(burst, tokens + (now - since) * rate)
        if tokens < 1:
            self._buckets[key] = (tokens, now)
            raise RateLimited(
                f"This client may send {granted:g} messages a second.",
                retry_after=_wait_seconds(1 - tokens, rate),
            )
        self._buckets[key] = (tokens - 1, now)

    def _granted(self, client: KnownClient) -> tuple[float, float]:
        """Tokens a second, and tokens that can be saved up."""
        rate, burst = float(client.rate_per_second), float(client.burst)
        if self._rules.max_requests is not None:
            rate = min(rate, self._rules.max_requests / self._rules.window_seconds)
            burst = min(burst, self._rules.max_requests)
        return rate, burst


def _wait_seconds(tokens: float, rate: float) -> int:
    return max(1, min(_NEVER_SECONDS, math.ceil(tokens / rate))) if rate else _NEVER_SECONDS
