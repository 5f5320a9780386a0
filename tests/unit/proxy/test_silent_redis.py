"""A Redis that takes connections and says nothing: it holds up neither the limits nor the claims,
and is not asked again and again."""

import asyncio
from typing import Any

import pytest

from gatepost.queue import QueueSlow
from proxy.claims import Claims
from proxy.limits import AGAIN_SECONDS, DRAW_SECONDS, Limits
from proxy.settings import RateLimiting
from tests.factories import CLIENT_ID, ids, known_client


class SilentRedis:
    """Answers nothing until it is told to speak."""

    def __init__(self) -> None:
        self.asked = 0
        self.speaks = False

    def register_script(self, _text: str) -> Any:
        return self._call

    async def unlink(self, *_keys: bytes) -> None:
        await self._call()

    async def _call(self, **_given: Any) -> Any:
        self.asked += 1
        if not self.speaks:
            await asyncio.Event().wait()
        return 5, 100, 0


async def test_a_draw_is_not_waited_for_and_not_repeated_at_once() -> None:
    redis, client, now = SilentRedis(), known_client(rate_per_second=100), 1000.0
    silent: Any = redis
    limits, loop = Limits(silent, 1, RateLimiting(), lambda: now), asyncio.get_running_loop()
    started = loop.time()
    for _ in range(90):
        now += AGAIN_SECONDS / 100
        await limits.take(client)
    assert redis.asked == 1
    assert loop.time() - started < DRAW_SECONDS + 5

    redis.speaks = True
    for _ in range(300):
        now += AGAIN_SECONDS
        await limits.take(client)
    assert redis.asked > 1


async def test_what_was_left_before_it_fell_silent_is_not_told_any_more() -> None:
    redis, client, now = SilentRedis(), known_client(rate_per_second=100), 1000.0
    silent: Any = redis
    limits = Limits(silent, 1, RateLimiting(), lambda: now)
    redis.speaks = True
    assert await limits.take(client) == limits.left(client) == 104  # it gave 5, and has 100 more
    redis.speaks = False
    for _ in range(5):
        now += 0.01
        left = await limits.take(client)
    assert left == limits.left(client) < 100


async def test_a_claim_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proxy.claims.ANSWER_SECONDS", 0.05)
    silent: Any = SilentRedis()
    claims = Claims(silent)
    with pytest.raises(QueueSlow):
        await claims.claim(CLIENT_ID, b"k" * 32, ids.new(), b"p" * 32)
    with pytest.raises(QueueSlow):
        await claims.drop(CLIENT_ID, b"k" * 32, ids.new())
