"""How a process speaks: once in a while, at its end, and without waiting for anybody."""

import asyncio
from typing import Any

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from gatepost.service import vitals
from gatepost.service.ops import helpful, needed
from gatepost.service.vitals import Voice, vitals_loop
from gatepost.wire.vitals import CHANNEL, Vitals, decode_vitals
from tests.heard import until


class FakeRedis:
    def __init__(self) -> None:
        self.said: list[Vitals] = []
        self.tried = 0
        self.away = self.hangs = False

    async def publish(self, channel: str, data: bytes) -> None:
        assert channel == CHANNEL
        self.tried += 1
        if self.hangs:
            await asyncio.sleep(3600)
        if self.away:
            raise RedisConnectionError
        self.said.append(decode_vitals(data))


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("EVERY_SECONDS", "ANSWER_SECONDS", "GOODBYE_SECONDS"):
        monkeypatch.setattr(vitals, name, 0.01)


async def test_it_says_how_it_is_and_at_last_that_it_leaves() -> None:
    redis: Any = FakeRedis()
    stop, totals = asyncio.Event(), {"accepted": {"a.example": 1}}
    checks = {"stores": needed(None), "queue": helpful("slow")}
    voice = Voice("proxy", lambda: checks, lambda: totals)
    speaking = asyncio.create_task(vitals_loop(stop, redis, voice))
    await until(lambda: redis.said)
    totals["accepted"]["a.example"] = 5
    redis.away = True
    tried = redis.tried
    await until(lambda: redis.tried > tried + 1)
    redis.away = False
    redis.hangs = True
    tried = redis.tried
    await until(lambda: redis.tried > tried + 1)
    redis.hangs = False
    stop.set()
    await speaking
    first, last = redis.said[0], redis.said[-1]
    assert first.checks == {"stores": (True, None), "queue": (True, "slow")}
    assert (first.leaving, last.leaving) == (False, True)
    assert first.process == last.process
    assert last.up_ms >= first.up_ms
    assert last.totals == {"accepted": {"a.example": 5}}


async def test_who_has_much_to_say_is_heard_all_the_same() -> None:
    redis: Any = FakeRedis()
    stop = asyncio.Event()
    stop.set()
    much = "safety: " + "; ".join(["the store is set up to lose what is given to it"] * 100)
    await vitals_loop(stop, redis, Voice("main_server", lambda: {"safety": needed(much)}))
    ok, said = redis.said[0].checks["safety"]
    assert said is not None
    assert (ok, much.startswith(said)) == (False, True)


async def test_a_redis_that_hangs_keeps_nobody_from_ending() -> None:
    redis: Any = FakeRedis()
    redis.hangs = True
    stop = asyncio.Event()
    stop.set()
    async with asyncio.timeout(2):
        await vitals_loop(stop, redis, Voice("worker", dict))
