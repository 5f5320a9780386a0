"""The view that one process has of an outage: its loops wait together, and go on as soon as one
succeeds."""

import asyncio

from gatepost.logs import Log
from gatepost.loops import backoff, pause

FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 0.1, 1.5


class Breaker:
    """A breaker that is open while the last thing that was tried failed. Each wait ends in one more
    try.

    There is one for the main server and one for Redis: that the one answers says nothing of the
    other.
    """

    def __init__(self, log: Log) -> None:
        self._log = log
        self._waits = backoff(FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS)
        self.problem: str | None = None

    async def failed(self, reason: str, stop: asyncio.Event) -> None:
        """Wait before the next try. The reason is logged once, not at every turn."""
        if not self.problem:
            self._log.warning("delivery.interrupted", reason=reason)
        self.problem = reason
        await pause(stop, next(self._waits))

    def succeeded(self) -> None:
        if self.problem:
            self._log.info("delivery.resumed")
            self._waits = backoff(FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS)
        self.problem = None
