"""Claims on a real Redis: one id for each key, whoever comes, dies or repeats."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from gatepost.queue import QueueError, QueueFull, QueueUnavailable, connect
from infra.dev.engines import RedisServer
from proxy.claims import LIFE_SECONDS, UNDER_WAY_SECONDS, Claims, Standing
from proxy.commit import Durability
from tests.factories import CLIENT_ID, ids

KEY, PAYLOAD, OTHER = b"k" * 32, b"p" * 32, b"o" * 32
NAME = b"gatepost:idempotency:" + CLIENT_ID.encode() + b":" + KEY


@pytest.fixture
async def redis(redis_url: str) -> AsyncIterator[Redis]:
    redis = connect(redis_url)
    yield redis
    await redis.aclose()


@pytest.fixture
def claims(redis: Redis) -> Claims:
    return Claims(redis)


async def die(redis: Redis) -> None:
    """The claimer's time has passed, as its process was killed."""
    await redis.hset(NAME, "until", "1")


async def test_the_first_has_it_and_a_repeat_waits(claims: Claims, redis: Redis) -> None:
    first, second = ids.new(), ids.new()
    claim = await claims.claim(CLIENT_ID, KEY, first, PAYLOAD)
    assert (claim.standing, claim.message_id) == (Standing.OURS, first)
    claim = await claims.claim(CLIENT_ID, KEY, second, PAYLOAD)
    assert (claim.standing, claim.message_id) == (Standing.UNDER_WAY, first)
    (now, _), until = await redis.time(), await redis.hget(NAME, "until")
    assert 0 < int(until or 0) - now <= UNDER_WAY_SECONDS
    assert LIFE_SECONDS - 10 < await redis.ttl(NAME) <= LIFE_SECONDS


async def test_what_is_done_answers_with_the_first(claims: Claims) -> None:
    first = ids.new()
    await claims.claim(CLIENT_ID, KEY, first, PAYLOAD)
    await claims.settle(CLIENT_ID, KEY, first, PAYLOAD, Durability.QUEUE)
    claim = await claims.claim(CLIENT_ID, KEY, ids.new(), PAYLOAD)
    assert (claim.standing, claim.message_id) == (Standing.DONE, first)
    assert (claim.payload_mac, claim.durability) == (PAYLOAD, Durability.QUEUE)


@pytest.mark.parametrize("done", [True, False])
async def test_another_payload_is_shown_whose_the_key_is(claims: Claims, done: bool) -> None:
    first = ids.new()
    await claims.claim(CLIENT_ID, KEY, first, PAYLOAD)
    if done:
        await claims.settle(CLIENT_ID, KEY, first, PAYLOAD, Durability.FULL)
    claim = await claims.claim(CLIENT_ID, KEY, ids.new(), OTHER)
    assert claim.standing is not Standing.OURS
    assert claim.payload_mac == PAYLOAD


async def test_after_a_claimer_that_died_the_repeat_goes_on_with_its_id(
    claims: Claims, redis: Redis
) -> None:
    first = ids.new()
    await claims.claim(CLIENT_ID, KEY, first, PAYLOAD)
    await die(redis)
    claim = await claims.claim(CLIENT_ID, KEY, ids.new(), PAYLOAD)
    assert (claim.standing, claim.message_id) == (Standing.OURS, first)
    claim = await claims.claim(CLIENT_ID, KEY, ids.new(), PAYLOAD)
    assert (claim.standing, claim.message_id) == (Standing.UNDER_WAY, first)


async def test_who_repeats_all_the_time_goes_on_once_the_time_of_the_dead_is_over(
    claims: Claims, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No claim is under way for ever: neither its own length nor who asks for it can make it so."""
    monkeypatch.setattr("proxy.claims.UNDER_WAY_SECONDS", 2)
    first = ids.new()
    heard: list[Standing] = []
    await claims.claim(CLIENT_ID, KEY, first, PAYLOAD)
    async with asyncio.timeout(10):
        while not heard or heard[-1] is Standing.UNDER_WAY:
            claim = await claims.claim(CLIENT_ID, KEY, ids.new(), PAYLOAD)
            heard.append(claim.standing)
            await asyncio.sleep(0.05)
    assert (heard[-1], claim.message_id) == (Standing.OURS, first)


async def test_another_payload_does_not_inherit_from_the_dead(claims: Claims, redis: Redis) -> None:
    """What the dead one sent may have been taken."""
    await claims.claim(CLIENT_ID, KEY, ids.new(), PAYLOAD)
    await die(redis)
    claim = await claims.claim(CLIENT_ID, KEY, ids.new(), OTHER)
    assert claim.standing is Standing.UNDER_WAY
    assert claim.payload_mac == PAYLOAD


async def test_the_ledgers_id_takes_the_place_of_the_claimed_one(claims: Claims) -> None:
    ours, ledgers = ids.new(), ids.new()
    await claims.claim(CLIENT_ID, KEY, ours, PAYLOAD)
    await claims.settle(CLIENT_ID, KEY, ledgers, PAYLOAD, Durability.LEDGER)
    assert (await claims.claim(CLIENT_ID, KEY, ids.new(), PAYLOAD)).message_id == ledgers


async def test_a_dropped_claim_was_never_there(claims: Claims) -> None:
    first, second = ids.new(), ids.new()
    await claims.claim(CLIENT_ID, KEY, first, PAYLOAD)
    await claims.drop(CLIENT_ID, KEY, first)
    claim = await claims.claim(CLIENT_ID, KEY, second, OTHER)
    assert (claim.standing, claim.message_id) == (Standing.OURS, second)


async def test_after_an_unknown_outcome_a_repeat_goes_on_at_once_with_the_same_id(
    claims: Claims,
) -> None:
    first = ids.new()
    await claims.claim(CLIENT_ID, KEY, first, PAYLOAD)
    await claims.release(CLIENT_ID, KEY, first)
    claim = await claims.claim(CLIENT_ID, KEY, ids.new(), PAYLOAD)
    assert (claim.standing, claim.message_id) == (Standing.OURS, first)


async def test_nobody_ends_a_claim_that_is_anothers_or_done(claims: Claims) -> None:
    first = ids.new()
    await claims.claim(CLIENT_ID, KEY, first, PAYLOAD)
    for end in (claims.drop, claims.release):
        await end(CLIENT_ID, KEY, ids.new())
    claim = await claims.claim(CLIENT_ID, KEY, ids.new(), PAYLOAD)
    assert (claim.standing, claim.message_id) == (Standing.UNDER_WAY, first)
    await claims.settle(CLIENT_ID, KEY, first, PAYLOAD, Durability.QUEUE)
    for end in (claims.drop, claims.release):
        await end(CLIENT_ID, KEY, first)
    claim = await claims.claim(CLIENT_ID, KEY, ids.new(), PAYLOAD)
    assert (claim.standing, claim.message_id) == (Standing.DONE, first)


async def test_more_at_once_than_there_are_connections_wait_for_one(claims: Claims) -> None:
    keys = [number.to_bytes(32, "big") for number in range(300)]
    answers = await asyncio.gather(
        *(claims.claim(CLIENT_ID, key, ids.new(), PAYLOAD) for key in keys)
    )
    assert {one.standing for one in answers} == {Standing.OURS}


async def test_clients_and_keys_are_told_apart(claims: Claims) -> None:
    for client, key in ((CLIENT_ID, KEY), ("b.example:x", KEY), (CLIENT_ID, OTHER)):
        claim = await claims.claim(client, key, ids.new(), PAYLOAD)
        assert claim.standing is Standing.OURS


async def test_of_many_at_once_one_has_it(claims: Claims) -> None:
    answers = await asyncio.gather(
        *(claims.claim(CLIENT_ID, KEY, ids.new(), PAYLOAD) for _ in range(50))
    )
    assert [one.standing for one in answers].count(Standing.OURS) == 1
    assert len({one.message_id for one in answers}) == 1


async def test_of_many_who_follow_a_dead_one_one_goes_on(claims: Claims, redis: Redis) -> None:
    first = ids.new()
    await claims.claim(CLIENT_ID, KEY, first, PAYLOAD)
    await die(redis)
    answers = await asyncio.gather(
        *(claims.claim(CLIENT_ID, KEY, ids.new(), PAYLOAD) for _ in range(50))
    )
    assert [one.standing for one in answers].count(Standing.OURS) == 1
    assert {one.message_id for one in answers} == {first}


async def test_a_full_redis_takes_no_claim_but_settles_and_drops_those_there_are(
    claims: Claims, redis: Redis
) -> None:
    first = ids.new()
    await claims.claim(CLIENT_ID, KEY, first, PAYLOAD)
    await redis.config_set("maxmemory", 1)
    try:
        with pytest.raises(QueueFull):
            await claims.claim(CLIENT_ID, OTHER, ids.new(), PAYLOAD)
        await claims.settle(CLIENT_ID, KEY, first, PAYLOAD, Durability.LEDGER)
        await claims.drop(CLIENT_ID, KEY, first)
    finally:
        await redis.config_set("maxmemory", 2 << 30)


async def test_without_redis_each_call_says_so() -> None:
    async with connect("redis://127.0.0.1:1/0") as nowhere:
        claims = Claims(nowhere)
        with pytest.raises(QueueUnavailable):
            await claims.claim(CLIENT_ID, KEY, ids.new(), PAYLOAD)
        with pytest.raises(QueueError):
            await claims.settle(CLIENT_ID, KEY, ids.new(), PAYLOAD, Durability.FULL)


async def test_the_proxys_own_account_may_do_all_of_it(redis_server: RedisServer) -> None:
    async with connect(redis_server.url("gatepost_proxy")) as redis:
        claims, key = Claims(redis), b"own" * 10 + b"ac"
        first = ids.new()
        await claims.claim(CLIENT_ID, key, first, PAYLOAD)
        await claims.settle(CLIENT_ID, key, first, PAYLOAD, Durability.FULL)
        await claims.drop(CLIENT_ID, key, first)
