"""Writes answers in few pieces, and to a peer who takes them.

A peer who asks and doesn't read is cut off: what he has not taken is memory of ours and of the
kernel.
"""

import asyncio
from collections.abc import Callable
from typing import Any

HIGH_WATER = 64 * 1024
"""Bytes not taken above which an application has to wait before it writes on; so many are written
at once, whether it waits or not."""
PATIENCE_SECONDS = 20.0
PROGRESS = 32 * 1024
"""Bytes that a peer has to take within PATIENCE_SECONDS, while more than the mark waits to be
taken."""


class OneWrite:
    """A transport that joins what is written in one turn of the loop, up to a bound.

    uvicorn writes the head of an answer and its body apart: two TLS records, two system calls.
    """

    def __init__(
        self, transport: Any, loop: asyncio.AbstractEventLoop, at_close: Callable[[], None]
    ) -> None:
        self._transport = transport
        self._loop = loop
        self._at_close = at_close
        self._parts: list[bytes] = []
        self._size = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def get_write_buffer_size(self) -> int:
        return self._size + int(self._transport.get_write_buffer_size())

    def write(self, data: bytes) -> None:
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(data)
        self._size += len(data)
        if self._size > HIGH_WATER:
            self._flush()

    def close(self) -> None:
        if self._transport.is_closing():
            return
        self._flush()
        self._transport.close()
        self._at_close()

    def _flush(self) -> None:
        parts, self._parts, self._size = self._parts, [], 0
        if parts:
            self._transport.write(b"".join(parts))


class Patience:
    """The patience with a peer who leaves his answers unread: it ends unless he takes some of them
    in time."""

    def __init__(self, taken: Callable[[], int], at_end: Callable[[], None]) -> None:
        self._taken = taken
        self._at_end = at_end
        self._before = 0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def begun(self) -> bool:
        return self._timer is not None

    def begin(self) -> None:
        self._before = self._taken()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(PATIENCE_SECONDS, self._look)

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        if self._taken() - self._before < PROGRESS:
            self._at_end()
        else:
            self.begin()
