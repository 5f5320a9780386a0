"""Draining: a service is to be stopped soon, and says so first, so that others take its work over.

From then on it isn't ready, and each answer is its connection's last. What comes all the same, from
whoever hasn't looked yet, is served for a while; then it is refused. It can be taken back.
"""

import mmap
import struct
import time
from collections.abc import Callable
from typing import Any

from gatepost.service.asgi import Receive, Scope, Send

_TIME = struct.Struct("d")


class Drain:
    """The time since when a service drains. It is shared with processes that are forked from then
    on: all processes of a service drain together."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._shared = mmap.mmap(-1, _TIME.size)
        self._clock = clock

    def begin(self) -> bool:
        """Begin to drain; return whether it had not begun before."""
        if self.begun:
            return False
        _TIME.pack_into(self._shared, 0, self._clock())
        return True

    def end(self) -> bool:
        """End draining; return whether it had begun."""
        begun = self.begun
        _TIME.pack_into(self._shared, 0, 0.0)
        return begun

    @property
    def begun(self) -> bool:
        return self._since > 0

    def is_over(self, grace_seconds: float) -> bool:
        """Return whether draining began so many seconds ago, or more."""
        return self.begun and self._clock() - self._since >= grace_seconds

    def words(self, grace_seconds: float) -> str | None:
        """Return what /readyz says of draining; None if it has not begun."""
        if not self.begun:
            return None
        left = grace_seconds - (self._clock() - self._since)
        return f"draining: takes posts for {left:.0f} s more" if left > 0 else "drained"

    @property
    def _since(self) -> float:
        (since,) = _TIME.unpack_from(self._shared, 0)
        return float(since)


class LastAnswers:
    """The outermost layer of an application: while it drains, its answers say Connection: close."""

    def __init__(self, app: Any, drain: Drain) -> None:
        self._app = app
        self._drain = drain

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def say_that_it_is_the_last(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), (b"connection", b"close")]
            await send(message)

        await self._app(scope, receive, say_that_it_is_the_last if self._drain.begun else send)
