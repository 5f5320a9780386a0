"""Limits on how often somebody may ask: a bucket for each. Each process counts for itself."""

import math
import time
from collections import OrderedDict
from collections.abc import Callable

from gatepost.errors import RateLimited

MOST = 10_000


class Buckets:
    """A bucket of `burst` for each who asks, into which `rate` flow a second."""

    def __init__(
        self, rate: float, burst: int, words: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._each, self._saved = 1 / rate, (burst - 1) / rate
        self._words, self._clock = words, clock
        self._full_at: OrderedDict[str, float] = OrderedDict()
        """The time when each bucket will be full again; whoever is not here has a full one."""

    def take(self, who: str) -> None:
        """Take one from somebody's bucket; raise RateLimited if it is empty."""
        now = self._clock()
        full_at = max(now, self._full_at.get(who, now))
        wait = full_at - now - self._saved
        if wait > 0:
            raise RateLimited(self._words, retry_after=max(1, math.ceil(wait)))
        self._full_at[who] = full_at + self._each
        self._full_at.move_to_end(who)
        if len(self._full_at) > MOST:
            self._full_at.popitem(last=False)
