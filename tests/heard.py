"""A log that a test can ask what it was told."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

from gatepost.logs import Log


class HeardLog(Log):
    def __init__(self) -> None:
        super().__init__("test", "debug")
        self.heard: list[dict[str, Any]] = []

    def _write(self, level: str, event: str, fields: dict[str, Any]) -> None:
        self.heard.append({"level": level, "event": event, **fields})

    def events(self) -> list[str]:
        return [one["event"] for one in self.heard]

    def of(self, event: str) -> list[dict[str, Any]]:
        return [one for one in self.heard if one["event"] == event]


async def settled() -> None:
    """Until what was set off has run, as far as it takes no time."""
    for _ in range(10):
        await asyncio.sleep(0)


async def until(condition: Callable[[], object], seconds: float = 10.0) -> None:
    """Until it is so; a TimeoutError if it doesn't get so."""
    async with asyncio.timeout(seconds):
        while True:
            if condition():
                return
            await asyncio.sleep(0.002)


def wait_until(condition: Callable[[], object], seconds: float = 10.0) -> None:
    """The same where nothing is asynchronous."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not get so"
        time.sleep(0.005)
