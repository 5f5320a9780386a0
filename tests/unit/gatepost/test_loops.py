"""Waiting: as long as was asked, or until it is time to stop; never hot, never together."""

import asyncio
import threading
import time
from collections.abc import Callable
from itertools import islice

from gatepost.loops import Turn, at_home, backoff, pause
from tests.heard import until


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


async def test_what_is_at_home_on_a_loop_is_called_there_whoever_asks() -> None:
    called: list[tuple[str, int]] = []

    def call(word: str) -> None:
        called.append((word, threading.get_ident()))

    here, home = threading.get_ident(), at_home(call)
    home("at once")
    assert called == [("at once", here)]
    await asyncio.to_thread(home, "later")
    await until(lambda: len(called) == 2)
    assert called[1] == ("later", here)


def test_what_is_at_home_on_a_loop_that_has_ended_is_not_called() -> None:
    called: list[int] = []

    async def leave_home() -> Callable[[int], None]:
        return at_home(called.append)

    asyncio.run(leave_home())(1)
    assert called == []
    at_home(called.append)(2)
    assert called == [2], "where there is no loop it is called by who asks"


async def test_others_have_their_turn_when_a_step_has_taken_long() -> None:
    others: list[int] = []
    asyncio.get_running_loop().call_soon(others.append, 1)
    long = Turn(seconds=3600)
    for _ in range(100):
        await long.step()
    assert others == []
    await Turn(seconds=0).step()
    assert others == [1]
