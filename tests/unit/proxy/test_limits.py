"""The rate limit without Redis: each process grants its share, by arithmetic done by hand.

With Redis, see tests/integration/proxy/test_limits.py.
"""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis.exceptions import ConnectionError as RedisConnectionError

from gatepost.errors import RateLimited
from gatepost.wire.bundle import KnownClient
from proxy.limits import Limits, Use, rate_headers
from proxy.settings import RateLimiting
from tests.factories import known_client


class NoRedis:
    """A Redis that does not answer."""

    def register_script(self, _text: str) -> Any:
        async def draw(**_given: Any) -> None:
            raise RedisConnectionError("no")

        return draw


class Proxy:
    """The limits of one process, and its clock."""

    def __init__(self, processes: int = 1, **rules: int | bool) -> None:
        self.now = 100.0
        no_redis: Any = NoRedis()
        settings = RateLimiting.model_validate(rules)
        self.limits = Limits(no_redis, processes, settings, lambda: self.now)

    async def granted(self, client: KnownClient, tries: int) -> int:
        """How many of so many tries at this moment are let through."""
        return sum([await self.wait_for(client) == 0 for _ in range(tries)])

    async def wait_for(self, client: KnownClient, count: int = 1, use: Use = Use.SENDING) -> int:
        """0, or the seconds that a refusal says to wait."""
        try:
            await self.limits.take(client, count, use)
        except RateLimited as refused:
            return refused.retry_after
        return 0


async def test_each_process_grants_its_share() -> None:
    client = known_client(rate_per_second=40, burst=1000)
    proxies = [Proxy(processes=4) for _ in range(4)]
    assert sum([await one.granted(client, 100) for one in proxies]) == 40
    for one in proxies:
        one.now += 2
    assert sum([await one.granted(client, 100) for one in proxies]) == 80


async def test_no_more_is_saved_up_than_the_burst() -> None:
    one, client = Proxy(), known_client(rate_per_second=10, burst=30)
    await one.granted(client, 100)
    one.now += 1_000_000
    assert await one.granted(client, 100) == 30


@pytest.mark.parametrize(("rate", "burst", "processes"), [(1, 1, 1), (1, 1, 4), (1, 100, 8)])
async def test_a_slow_client_gets_its_turn_however_often_it_asks(
    rate: int, burst: int, processes: int
) -> None:
    one, client = Proxy(processes), known_client(rate_per_second=rate, burst=burst)
    passed = 0
    for _ in range(1000):
        one.now += 0.1
        passed += await one.granted(client, 1)
    assert passed == pytest.approx(100 * rate / processes, rel=0.1)


async def test_the_wait_that_is_told_is_enough() -> None:
    one, client = Proxy(processes=4), known_client(rate_per_second=1, burst=1)
    while not (wait := await one.wait_for(client)):
        pass
    assert 1 <= wait <= 4
    one.now += wait
    assert await one.wait_for(client) == 0


async def test_clients_do_not_share_but_their_certificates_do() -> None:
    one = Proxy()
    first = known_client("aa" * 32, rate_per_second=3)
    assert await one.granted(first, 10) == 3
    assert await one.granted(known_client(name="other", rate_per_second=3), 10) == 3
    assert await one.granted(known_client(domain="b.example", rate_per_second=3), 10) == 3
    assert await one.granted(known_client("bb" * 32, rate_per_second=3), 10) == 0


async def test_a_rate_of_nothing_lets_nothing_through() -> None:
    assert await Proxy().wait_for(known_client(rate_per_second=0)) == 3600


async def test_the_proxys_own_ceiling_holds_for_everyone_and_raises_nobodys_rate() -> None:
    one = Proxy(max_requests=600, window_seconds=60)
    assert await one.granted(known_client(rate_per_second=1000, burst=1000), 100) == 10
    assert await one.granted(known_client(name="slow", rate_per_second=2), 100) == 2


async def test_many_are_taken_at_once_or_none_of_them() -> None:
    one, client = Proxy(), known_client(rate_per_second=10, burst=30)
    assert await one.granted(client, 4) == 4
    assert await one.wait_for(client, 10) == 1
    assert await one.wait_for(client, 28) == 3, "when there are as many"
    one.now += 3
    assert await one.wait_for(client, 28) == 0
    assert await one.granted(client, 100) == 8, "what the others had left is there still"


async def test_so_many_can_be_taken_at_once_without_redis() -> None:
    client = known_client(rate_per_second=10, burst=30)
    for processes, most in ((1, 15), (4, 3), (64, 1)):
        one = Proxy(processes)
        one.now += 1000
        assert one.limits.at_most(client, 1000) == most
        assert one.limits.at_most(client, 1) == 1
        await one.wait_for(client, most)
        one.now += 1000
        assert await one.wait_for(client, most) == 0


async def test_to_ask_and_to_send_are_counted_apart() -> None:
    one, client = Proxy(), known_client(rate_per_second=3)
    assert await one.granted(client, 10) == 3
    asked = [await one.wait_for(client, use=Use.ASKING) for _ in range(5)]
    assert asked == [0, 0, 0, 1, 1]


async def test_who_may_not_send_may_ask_once_a_second() -> None:
    one, client = Proxy(), known_client(rate_per_second=0)
    assert await one.wait_for(client, use=Use.ASKING) == 0
    assert await one.wait_for(client, use=Use.ASKING) == 1
    one.now += 1
    assert await one.wait_for(client, use=Use.ASKING) == 0


async def test_it_can_be_turned_off() -> None:
    one, client = Proxy(enabled=False), known_client(rate_per_second=0, burst=7)
    assert await one.granted(client, 100) == 100
    assert one.limits.left(client) == await one.limits.take(client) == 7


async def test_what_is_left_can_be_asked_without_taking_any() -> None:
    one, client = Proxy(), known_client(rate_per_second=10)
    assert one.limits.left(client) == 0
    for left in (9, 8, 7):
        assert await one.limits.take(client) == one.limits.left(client) == left
    assert await one.granted(client, 100) == 7
    assert one.limits.left(client) == 0


@given(
    waits=st.lists(st.floats(min_value=0, max_value=5), min_size=1, max_size=100),
    rate=st.integers(min_value=1, max_value=50),
    burst=st.integers(min_value=1, max_value=50),
)
async def test_over_any_time_no_more_than_burst_and_rate_together(
    waits: list[float], rate: int, burst: int
) -> None:
    one, client = Proxy(), known_client(rate_per_second=rate, burst=burst)
    passed, started = 0, one.now
    for wait in waits:
        one.now += wait
        passed += await one.granted(client, 3)
        assert passed <= burst + rate * (one.now - started + 1) + 1e-6


def test_a_sender_is_told_where_it_stands() -> None:
    no_redis: Any = NoRedis()
    limits = Limits(no_redis, 1, RateLimiting())
    granted = limits.granted(known_client(rate_per_second=10, burst=50))
    assert (granted.rate, granted.burst) == (10, 50)
    assert dict(rate_headers(granted, 7)) == {
        b"ratelimit-policy": b'"client";q=50;w=5',
        b"ratelimit": b'"client";r=7;t=1',
    }
    assert dict(rate_headers(granted, 0, 5))[b"ratelimit"] == b'"client";r=0;t=5'
    asking = dict(rate_headers(granted, 7, use=Use.ASKING))
    assert asking[b"ratelimit"] == b'"asking";r=7;t=1'
    idle = limits.granted(known_client(rate_per_second=0))
    assert dict(rate_headers(idle, 0))[b"ratelimit-policy"].endswith(b"w=3600")
    assert math.isclose(limits.granted(known_client(burst=0)).burst, 1.0)
