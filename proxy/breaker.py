"""A breaker for each store of the commit: a store that keeps missing isn't waited for (3.5)."""

import time
from collections.abc import Callable

from gatepost.logs import Log

MISSES_TO_OPEN = 3
PROBE_SECONDS = 0.5
SLOW_SECONDS = 1.0


class Breaker:
    """A breaker that skips a store that keeps missing, and lets one try through every half
    second."""

    def __init__(self, store: str, log: Log, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._log = log
        self._clock = clock
        self._misses = 0
        self._probe_at = 0.0
        self.problem: str | None = None
        """The reason why the store is skipped; None when it isn't."""

    @property
    def open(self) -> bool:
        return self._misses >= MISSES_TO_OPEN

    def allows(self) -> bool:
        if not self.open:
            return True
        if self._clock() < self._probe_at:
            return False
        self._probe_at = self._clock() + PROBE_SECONDS
        return True

    def late(self, seconds: float) -> None:
        """Take note of how long a commit has been under way. Slow is a miss, busy is not."""
        if seconds > SLOW_SECONDS:
            self.missed("slow")

    def missed(self, reason: str) -> None:
        self._misses += 1
        if self.open:
            self.problem = reason
        if self._misses == MISSES_TO_OPEN:
            self._probe_at = self._clock() + PROBE_SECONDS
            self._log.warning("breaker.opened", store=self._store, reason=reason)

    def answers(self) -> None:
        """Take note that the store answers something else: it isn't away any more, as far as can be
        told.

        A commit has yet to show it. But without this a proxy that isn't ready, and so is sent
        nothing, would never get ready again.
        """
        self.problem = None

    def hit(self) -> None:
        if self.open:
            self._log.info("breaker.closed", store=self._store)
        self._misses = 0
        self.problem = None
