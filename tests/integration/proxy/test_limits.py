"""The rate limit in Redis: one bucket for all processes, and no more is granted than it holds."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from gatepost.errors import RateLimited
from gatepost.queue import connect
from gatepost.wire.bundle import KnownClient
from proxy.limits import Limits, Use
from proxy.settings import RateLimiting
from tests.factories import known_client


@pytest.fixture
async def redis(redis_url: str) -> AsyncIterator[Redis]:
    async with connect(redis_url) as redis:
        yield redis


def processes(redis: Redis, number: int) -> list[Limits]:
    return [Limits(redis, number, RateLimiting()) for _ in range(number)]


async def granted(limits: Limits, client: KnownClient, tries: int) -> int:
    passed = 0
    for _ in range(tries):
        try:
            await limits.take(client)
        except RateLimited:
            continue
        passed += 1
    return passed


async def test_processes_share_one_bucket_and_nothing_is_left_over(redis: Redis) -> None:
    client = known_client(rate_per_second=10, burst=100)
    started = time.monotonic()
    passed = sum(await asyncio.gather(*(granted(one, client, 100) for one in processes(redis, 4))))
    most = 100 + 10 * (time.monotonic() - started) + 1
    assert 100 <= passed <= most


async def test_one_process_alone_may_use_all_of_it(redis: Redis) -> None:
    one, *_ = processes(redis, 8)
    assert await granted(one, known_client(rate_per_second=10, burst=100), 105) >= 100


async def test_a_refusal_says_when_and_then_it_is_so(redis: Redis) -> None:
    client = known_client(rate_per_second=2, burst=1)
    one, other = processes(redis, 2)
    await one.take(client)
    with pytest.raises(RateLimited) as refused:
        await other.take(client)
    assert refused.value.retry_after == 1
    await asyncio.sleep(0.55)  # half a second is one token
    await other.take(client)


async def test_many_at_once_in_one_process_draw_no_more_than_there_is(redis: Redis) -> None:
    one, *_ = processes(redis, 1)
    client = known_client(rate_per_second=1, burst=20)
    found = await asyncio.gather(*(one.take(client) for _ in range(200)), return_exceptions=True)
    refused = [error for error in found if isinstance(error, BaseException)]
    assert {type(error) for error in refused} == {RateLimited}
    assert 20 <= len(found) - len(refused) <= 21


async def test_many_are_drawn_at_once_or_none_of_them(redis: Redis) -> None:
    """What one process could not use, another has."""
    client = known_client(rate_per_second=1, burst=100)
    one, other = processes(redis, 2)
    await one.take(client, 30)
    with pytest.raises(RateLimited) as refused:
        await other.take(client, 90)
    assert 15 <= refused.value.retry_after <= 20
    await one.take(client, 70)


async def test_who_wants_one_is_not_refused_because_another_wants_many(redis: Redis) -> None:
    client = known_client(rate_per_second=1, burst=10)
    one, *_ = processes(redis, 1)
    many, single = await asyncio.gather(
        one.take(client, 50), one.take(client), return_exceptions=True
    )
    assert isinstance(many, RateLimited)
    assert single == 9


async def test_to_ask_and_to_send_are_counted_apart(redis: Redis) -> None:
    client = known_client(rate_per_second=1, burst=5)
    one, *_ = processes(redis, 1)
    assert 5 <= await granted(one, client, 10) <= 6
    for _ in range(5):
        await one.take(client, use=Use.ASKING)
    with pytest.raises(RateLimited, match="ask 1 times"):
        await one.take(client, use=Use.ASKING)


async def test_clients_do_not_share(redis: Redis) -> None:
    one, *_ = processes(redis, 1)
    for client in (
        known_client(rate_per_second=1, burst=5),
        known_client(rate_per_second=1, burst=5, name="other"),
        known_client(rate_per_second=1, burst=5, domain="example.org"),
    ):
        assert 5 <= await granted(one, client, 20) <= 6


async def test_a_bucket_that_is_full_again_is_forgotten(redis: Redis) -> None:
    one, *_ = processes(redis, 1)
    await one.take(known_client(rate_per_second=100, burst=10))
    (key,) = await redis.keys("gatepost:rate:*")
    assert 0 < await redis.pttl(key) <= 1_200
    assert b"example.com:client_001" in key
