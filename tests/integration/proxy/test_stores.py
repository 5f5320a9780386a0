"""The way into a real queue: what it says of a message that it has, and of one that it has lost."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from gatepost.errors import OutcomeUnknown, Unavailable
from gatepost.queue import Queues, connect
from gatepost.wire.contract import Registered, RegisterResult
from proxy.commit import Commit, Durability
from proxy.stores import QueueStore, StoreRefused
from tests.factories import ids
from tests.heard import HeardLog
from tests.unit.proxy.stores import FakeLedger, bare_envelope


@pytest.fixture
async def redis(redis_url: str) -> AsyncIterator[Redis]:
    async with connect(redis_url) as redis:
        yield redis


class Lane:
    """One queue of Redis, and a ledger that answers when it is told to."""

    def __init__(self, redis: Redis) -> None:
        queues = Queues(redis, f"lane-{ids.new()}")
        self.queue = queues.named(None)
        self.store, ledger = QueueStore(queues, HeardLog()), FakeLedger()
        self.ledger = ledger
        self._commit = Commit(self.store, ledger)  # type: ignore[arg-type]

    async def post(self) -> "asyncio.Task[Durability]":
        """A message is in the queue, and the ledger has yet to answer."""
        envelope = bare_envelope(queue=self.queue.name)
        post = asyncio.create_task(self._commit.side_by_side(envelope))
        await self.has(1)
        return post

    async def has(self, waiting: int) -> None:
        deadline = time.monotonic() + 10
        while (await self.queue.stats()).waiting != waiting:
            assert time.monotonic() < deadline, "it did not get so"


async def test_what_is_there_is_exposed_and_promised(redis: Redis) -> None:
    lane = Lane(redis)
    post = await lane.post()
    lane.ledger.answer(StoreRefused("no"))
    assert await post is Durability.QUEUE
    assert (await lane.queue.stats()).exposed == 1


async def test_what_was_lost_before_it_could_be_exposed_is_not_promised(redis: Redis) -> None:
    lane = Lane(redis)
    post = await lane.post()
    await lane.queue.purge()
    lane.ledger.answer(StoreRefused("no"))
    with pytest.raises(OutcomeUnknown):
        await post
    assert (await lane.queue.stats()).exposed == 0


async def test_what_the_ledger_declines_is_taken_out(redis: Redis) -> None:
    lane = Lane(redis)
    post = await lane.post()
    lane.ledger.answer(RegisterResult(result=Registered.REFUSED, reason="unstorable"))
    with pytest.raises(Unavailable):
        await post
    await lane.has(0)
