"""How long a request holds the event loop up: what others notice who have nothing to do with it."""

import asyncio
import time
from dataclasses import dataclass
from typing import Any

STALL_SECONDS = 0.05
"""No single request may hold a loop for longer."""
TRIES = 3
PIECE_BYTES = 64 * 1024


class Meter:
    """Looks at the clock in each round of a loop.

    By the thread's own processor time: on a busy machine others take the processor away, and that
    is nobody's stall. What runs in another thread meanwhile isn't seen.
    """

    def __init__(self) -> None:
        self.longest = 0.0
        self._running = True
        self._last = time.thread_time()
        asyncio.get_running_loop().call_soon(self._look)

    def _look(self) -> None:
        now = time.thread_time()
        self.longest = max(self.longest, now - self._last)
        self._last = now
        if self._running:
            asyncio.get_running_loop().call_soon(self._look)

    async def stop(self) -> None:
        self._running = False
        await asyncio.sleep(0)
        await asyncio.sleep(0)


@dataclass(frozen=True, slots=True)
class Stalled:
    """What became of a request, and for how many seconds it held its loop at the longest."""

    status: int
    answer_bytes: int
    seconds: float


async def longest_stall(app: Any, scope: dict[str, Any], content: bytes) -> Stalled:
    """Asks an ASGI application, whose body comes as a server brings it."""
    pieces = [content[at : at + PIECE_BYTES] for at in range(0, len(content), PIECE_BYTES)] or [b""]
    pieces.reverse()
    status, length = 0, 0

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(0)
        piece = pieces.pop()
        return {"type": "http.request", "body": piece, "more_body": bool(pieces)}

    async def send(message: Any) -> None:
        nonlocal status, length
        status = message.get("status", status)
        length += len(message.get("body", b""))

    meter = Meter()
    try:
        await app(dict(scope), receive, send)
    finally:
        await meter.stop()
    return Stalled(status, length, meter.longest)


async def inherent_stall(app: Any, scope: dict[str, Any], content: bytes) -> Stalled:
    """The best of a few: what a cold cache, or a neighbour on this core, added once isn't of this
    request."""
    best = await longest_stall(app, scope, content)
    for _ in range(TRIES - 1):
        if best.seconds < STALL_SECONDS:
            break
        best = min(best, await longest_stall(app, scope, content), key=lambda one: one.seconds)
    return best
