"""Tells Prometheus how far this machine's clock is from those that we share."""

import asyncio

from prometheus_client import Gauge

from gatepost.clock import Clock
from gatepost.loops import pause

LOOK_SECONDS = 1.0


async def clocks_loop(stop: asyncio.Event, *clocks: Clock) -> None:
    """Measure how far clocks are from ours. The furthest of several counts, as of several
    processes."""
    gauge = Gauge(
        "gatepost_clock_difference_seconds",
        "How far this machine's clock is from the one it is corrected by",
        multiprocess_mode="livemax",
    )
    while not stop.is_set():
        gauge.set(max(abs(clock.ahead_ms) for clock in clocks) / 1000)
        await pause(stop, LOOK_SECONDS)
