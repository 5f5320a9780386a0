"""A real Redis as a source of what is revoked, and its wake-up."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import pytest_asyncio
from redis.asyncio import Redis

from gatepost.clock import Clock
from gatepost.queue import connect
from gatepost.service.revocation import Bell, Poller, wake_up_loop
from gatepost.service.revocation_sources import NoAnswer, RedisSource, redis_asked
from gatepost.trust.revocation import CHANNEL, KEY
from gatepost.trust.revoked import open_view
from main_server.ca.revocation import publish
from main_server.ca.watch import put
from tests.heard import HeardLog
from tests.hostile.starving import starve, watched
from tests.lists import Issuer


@pytest_asyncio.fixture
async def redis(redis_url: str) -> AsyncIterator[Redis]:
    async with connect(redis_url, 4) as redis:
        yield redis


@pytest.fixture
def issuer(tmp_path: Path) -> Issuer:
    return Issuer(tmp_path / "ca")


async def test_what_was_published_is_learned_and_asked_for_once(
    redis: Redis, issuer: Issuer
) -> None:
    state = issuer.state()
    await publish(redis, state)
    source = RedisSource(redis)
    assert await source.ask(None) == state
    assert await source.ask(state.number) is None
    assert await source.ask(state.number - 1) == state
    view = open_view(issuer.pins, Clock())
    assert await Poller(source, view).poll()
    assert view.problem is None


@pytest.mark.parametrize(
    "held",
    [
        {},
        {"number": "x", "data": b""},
        {"number": "7"},
        {"number": "7", "data": b"\xff"},
        {"data": b"x"},
    ],
)
async def test_what_can_not_be_read_is_no_answer(redis: Redis, held: Any) -> None:
    if held:
        await redis.hset(KEY, mapping=held)
    with pytest.raises(NoAnswer):
        await RedisSource(redis).ask(None)


async def test_a_key_of_another_type_is_no_answer(redis: Redis) -> None:
    await redis.set(KEY, "x")
    with pytest.raises(NoAnswer):
        await RedisSource(redis).ask(None)


async def test_a_redis_that_has_less_is_told_and_one_that_has_more_is_left_alone(
    redis: Redis, issuer: Issuer
) -> None:
    old, new = issuer.state(), issuer.state()
    assert await put(redis, old)
    assert not await put(redis, old)
    assert await put(redis, new)
    assert not await put(redis, old)
    assert await RedisSource(redis).ask(None) == new


@pytest.mark.parametrize(
    "held", ["", "x", "-1", "1e99", "nan", "7.5", str(1 << 62), "9" * 40, "٧", None]
)
@pytest.mark.parametrize("tell", [put, publish])
async def test_what_no_state_can_be_makes_room_for_one(
    redis: Redis, issuer: Issuer, held: str | None, tell: Callable[..., Any]
) -> None:
    """Or what is revoked from then on would not come to those who reach Redis alone (I8)."""
    if held is None:
        await redis.set(KEY, "x")
    else:
        await redis.hset(KEY, mapping={"number": held, "data": b"x"})
    state = issuer.state()
    assert await tell(redis, state)
    assert await RedisSource(redis).ask(None) == state
    assert not await tell(redis, state)


async def test_whatever_is_published_rings(redis: Redis, issuer: Issuer) -> None:
    async with listening(redis) as bell:
        await listened(redis)
        rung = bell.next()
        await publish(redis, issuer.state())
        async with asyncio.timeout(5):
            await rung.wait()


async def test_who_was_cut_off_listens_again(
    redis: Redis, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gatepost.service.revocation.AGAIN_SECONDS", 0.3)
    async with listening(redis) as bell:
        for _ in range(3):
            await listened(redis)
            rung = bell.next()
            await redis.client_kill_filter(_type="pubsub")
            await listened(redis, by=0)
            await listened(redis)
            await publish(redis, issuer.state())
            async with asyncio.timeout(5):
                await rung.wait()


async def test_who_listens_does_not_hold_a_stop_up(redis: Redis, issuer: Issuer) -> None:
    stop, bell = asyncio.Event(), Bell()
    loop = asyncio.create_task(wake_up_loop(stop, redis, bell))
    await listened(redis)
    rung = bell.next()
    await publish(redis, issuer.state())
    await rung.wait()  # from here on it listens anew
    stop.set()
    async with asyncio.timeout(2):
        await loop


async def test_a_loop_that_has_time_for_nothing_has_a_fresh_view_all_the_same(
    redis: Redis, redis_url: str, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By connections that aren't the loop's."""
    monkeypatch.setattr("gatepost.service.revocation.RevocationMetrics", Mock)
    await publish(redis, issuer.state())
    heard = partial(connect, redis_url, 1)
    view = open_view(issuer.pins, Clock())
    async with watched(HeardLog(), view, heard, [redis_asked(heard)]):
        starved = starve(view, 30.0, lambda confirmed: confirmed >= 3)
    assert starved.confirmed >= 3


@asynccontextmanager
async def listening(redis: Redis) -> AsyncIterator[Bell]:
    bell = Bell()
    loop = asyncio.create_task(wake_up_loop(asyncio.Event(), redis, bell))
    try:
        yield bell
    finally:
        loop.cancel()
        await asyncio.wait({loop}, timeout=5)


async def listened(redis: Redis, by: int = 1) -> None:
    """Until so many do."""
    async with asyncio.timeout(5):
        while True:
            if dict(await redis.pubsub_numsub(CHANNEL)).get(CHANNEL.encode(), 0) == by:
                return
            await asyncio.sleep(0.005)
