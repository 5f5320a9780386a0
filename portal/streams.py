"""Streams of server-sent events: what is shown goes on, for as long as its reader may see it.

A stream ends by itself after a while, and whenever the process stops; browsers come back with their
cookies, so that somebody who has signed out meanwhile doesn't.
"""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

from fastapi.responses import StreamingResponse

from gatepost.errors import TooManyTries
from gatepost.service.asgi import Receive, Scope, Send

MOST_EACH, MOST = 4, 200
"""The most streams open at once in a process: for one person, and for all of them."""
SEND_SECONDS = 10.0
"""The seconds after which a browser that doesn't take what is sent is not waited for."""
AGAIN_MS = 1_000
_HEADERS = {"x-accel-buffering": "no"}


class Streams:
    def __init__(self) -> None:
        self._open: Counter[str] = Counter()

    def take(self, person: str) -> Callable[[], None]:
        """Take a place for one more stream; return the function that gives it back. Raise
        TooManyTries if there is none."""
        if self._open[person] >= MOST_EACH or self._open.total() >= MOST:
            raise TooManyTries("Too many pages show live figures already.", retry_after=60)
        self._open[person] += 1

        def give_back() -> None:
            self._open[person] -= 1
            if not self._open[person]:
                del self._open[person]

        return give_back


def event(name: str, said: Any) -> bytes:
    """Return one event; what it says is JSON, and so one line."""
    return f"event: {name}\nretry: {AGAIN_MS}\ndata: {json.dumps(said)}\n\n".encode()


class EventStream(StreamingResponse):
    def __init__(self, events: AsyncIterator[bytes], at_end: Callable[[], None]) -> None:
        super().__init__(events, media_type="text/event-stream", headers=_HEADERS)
        self._at_end = at_end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_in_time(message: Any) -> None:
            async with asyncio.timeout(SEND_SECONDS):
                await send(message)

        try:
            with suppress(TimeoutError):
                await super().__call__(scope, receive, send_in_time)
        finally:
            self._at_end()
