"""The pace of a client that is at its limit: as fast as the gateway lets it, and no faster.

As long as nothing is refused nobody waits. Once the gateway has said 429, all who send by one
client, in however many threads, take turns at the rate that it has told; so nobody comes too early,
and nobody waits for a whole second that Retry-After has rounded a few milliseconds up to. When
nobody has waited for a while, the rate is forgotten: the gateway has saved up tokens meanwhile.
"""

import threading
from collections.abc import Callable

from gatepost.client.errors import RateLimited

FORGOTTEN_SECONDS = 1.0


class Pace:
    """The pace of one client, which threads may share. `now` is a monotonic clock."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._interval = 0.0
        """Seconds for each message; 0 while there is no limit to be felt."""
        self._taken = 0.0
        """The time up to which all that flows in has been given away."""

    def wait(self, messages: int = 1, most: float = float("inf")) -> float | None:
        """Return the seconds until so many messages may go, and give them their turn; None, and no
        turn, if it would come later than in `most` seconds."""
        with self._lock:
            now = self._now()
            if now - self._taken > FORGOTTEN_SECONDS:
                self._interval = 0.0
            if not self._interval:
                return 0.0
            turn = max(now, self._taken + messages * self._interval)
            if turn - now > most:
                return None
            self._taken = turn
            return turn - now

    def refused(self, error: RateLimited) -> None:
        """Note that the gateway has no token left."""
        wait = error.retry_after or 0.0
        with self._lock:
            now = self._now()
            self._interval = error.interval or max(wait, FORGOTTEN_SECONDS)
            # Whole seconds are rounded up: the true wait may be up to one less.
            self._taken = max(self._taken, now, now + wait - 1.0 - self._interval)

    @property
    def a_second(self) -> int | None:
        """The number of messages that go in a second, at least one; None while there is no
        limit."""
        with self._lock:
            return max(1, int(1 / self._interval)) if self._interval else None
