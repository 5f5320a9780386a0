"""The order of messages that come in one batch, within their ordering keys.

They are committed side by side, so that a batch takes no longer for it; but each enters the queue
after the one before it of its line.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from gatepost.errors import GatepostError, RetryableError


class InLine:
    """A place in a line. What has entered the queue, or never will, passes on."""

    def __init__(self, before: "InLine | None") -> None:
        self._before = before
        self._passed = asyncio.Event()

    async def come(self) -> None:
        if self._before is not None:
            await self._before._passed.wait()
            self._before = None

    def pass_on(self) -> None:
        self._passed.set()


class Lines:
    """The lines of one batch."""

    def __init__(self) -> None:
        self._last: dict[str, InLine] = {}
        self._stopped: RetryableError | None = None

    def refused(self, error: GatepostError) -> None:
        """Who is to send one item later has to send those behind it later still."""
        if isinstance(error, RetryableError):
            self._stopped = self._stopped or error

    @contextmanager
    def join(self, ordering_key: str | None) -> Iterator[InLine | None]:
        """The next place; none where no order is wanted. Raises what an earlier item was refused
        with, if that is to be sent again."""
        if ordering_key is None:
            yield None
            return
        if self._stopped is not None:
            raise self._stopped
        in_line = self._last[ordering_key] = InLine(self._last.get(ordering_key))
        try:
            yield in_line
        finally:
            in_line.pass_on()
