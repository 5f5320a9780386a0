"""Waiting: as long as was asked, or until it is time to stop; never hot, never together."""

import asyncio
import time
from itertools import islice

from gatepost.loops import backoff, pause


async def test_a_pause_ends_at_once_when_it_is_time_to_stop() -> None:
    stop = asyncio.Event()
    started = time.monotonic()
    asyncio.get_running_loop().call_later(0.02, stop.set)
    await pause(stop, 60)
    assert time.monotonic() - started < 5


async def test_a_pause_lasts_as_long_as_it_should() -> None:
    started = time.monotonic()
    await pause(asyncio.Event(), 0.05)
    assert time.monotonic() - started >= 0.049


def test_waits_double_up_to_the_cap_with_jitter() -> None:
    waits = list(islice(backoff(0.1, 1.5), 50))
    steps = [0.1, 0.2, 0.4, 0.8] + [1.5] * 46
    assert all(step / 2 <= wait <= step for wait, step in zip(waits, steps, strict=True))
    assert len(set(waits)) > 40
