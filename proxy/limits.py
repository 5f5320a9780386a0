"""How fast a client may send: a token bucket for each client, in this process.

Each of the proxy's processes grants its share of the client's rate.
"""

import math
import time

from gatepost.bundle import KnownClient
from gatepost.errors import RateLimited


class Limits:
    def __init__(self, processes: int) -> None:
        self._share = 1 / processes
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, client: KnownClient, now: float | None = None) -> None:
        """Takes one token, or raises RateLimited with the time until there is one."""
        now = time.monotonic() if now is None else now
        rate, burst = client.rate_per_second * self._share, max(1.0, client.burst * self._share)
        key = client.identity.client_id
        tokens, since = self._buckets.get(key, (burst, now))
        tokens = min(burst, tokens + (now - since) * rate)
        if tokens < 1:
            self._buckets[key] = (tokens, now)
            raise RateLimited(
                f"This client may send {client.rate_per_second} messages a second.",
                retry_after=max(1, math.ceil((1 - tokens) / rate)),
            )
        self._buckets[key] = (tokens - 1, now)
