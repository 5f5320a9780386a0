"""The order of messages that come in one batch, within their ordering keys: each is begun when the
one before it in its line has been answered, and no earlier."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gatepost.errors import GatepostError, RetryableError


class Lines:
    """The lines of one batch."""

    def __init__(self) -> None:
        self._last: dict[str, asyncio.Event] = {}
        self._stopped: RetryableError | None = None

    def refused(self, error: GatepostError) -> None:
        """Note a refusal: a client that is to send one item later has to send those behind it later
        still."""
        if isinstance(error, RetryableError):
            self._stopped = self._stopped or error

    @asynccontextmanager
    async def join(self, ordering_key: str | None) -> AsyncIterator[None]:
        """Wait for one's turn, where an order is wanted; places are given in the order of the
        calls. Raise what an earlier item was refused with, if that is to be sent again."""
        if ordering_key is None:
            yield
            return
        before, own = self._last.get(ordering_key), asyncio.Event()
        self._last[ordering_key] = own
        try:
            if before is not None:
                await before.wait()
            if self._stopped is not None:
                raise self._stopped
            yield
        except GatepostError as error:
            self.refused(error)
            raise
        finally:
            own.set()
