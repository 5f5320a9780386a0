"""Counts each peer who is turned away before a request of his is heard, or cut off for a bound, and
logs as many as a log can bear."""

import time
from collections.abc import Callable
from enum import StrEnum
from functools import cache

from prometheus_client import Counter

from gatepost.logs import Log

LINES, LINES_PER_SECOND = 100, 1.0
"""Lines at once, and lines a second after that: a stranger must not be able to fill the disk."""


class Bound(StrEnum):
    """The bound that somebody met; the words stand in metrics and in the log."""

    HANDSHAKE = "handshake"
    ADDRESS = "connections of an address"
    CERTIFICATE = "connections of a certificate"
    PROCESS = "connections of a process"
    UNREAD = "answers that are not read"


@cache
def _counter() -> Counter:
    """Return the counter; made once the metrics folder is known, hence not at import."""
    return Counter(
        "gatepost_connections_refused",
        "Connections that were turned away or cut off, by the bound that they met",
        ["bound"],
    )


class TurnedAway:
    """The connections turned away or cut off by one port in one process."""

    def __init__(self, log: Log, clock: Callable[[], float] = time.monotonic) -> None:
        self._log = log
        self._clock = clock
        self._lines, self._filled = float(LINES), clock()
        self._untold = 0

    def note(self, bound: Bound, fingerprint: str | None = None) -> None:
        _counter().labels(bound).inc()
        if (untold := self._may_tell()) is not None:
            self._log.warning(
                "connections.refused", bound=bound, fingerprint=fingerprint, untold=untold
            )

    def handshake(self, why: str) -> None:
        _counter().labels(Bound.HANDSHAKE).inc()
        if (untold := self._may_tell()) is not None:
            self._log.warning("tls.refused", reason=why, untold=untold)

    def _may_tell(self) -> int | None:
        """Return how many went untold before this one; None if this one does, too."""
        now = self._clock()
        self._lines = min(LINES, self._lines + (now - self._filled) * LINES_PER_SECOND)
        self._filled = now
        if self._lines < 1:
            self._untold += 1
            return None
        self._lines -= 1
        untold, self._untold = self._untold, 0
        return untold
