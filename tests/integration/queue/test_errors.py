"""Redis away, loading, full, read-only, slow: each is an error with a name, and it passes."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from gatepost.queue import (
    Queue,
    QueueFull,
    QueueLoading,
    QueueReadOnly,
    QueueSlow,
    QueueUnavailable,
    Reason,
    connect,
)
from infra.dev.child import Child
from infra.dev.engines import Engines
from infra.dev.ports import HOST, free_port
from tests.integration.queue.factories import entries, entry
from tests.integration.queue.servers import redis_child

PATIENCE = 20.0
NO_RETRY = Retry(NoBackoff(), retries=0)


class Lonely:
    """A server that a test may stop, and a queue on it."""

    def __init__(self, engines: Engines, folder: Path) -> None:
        self.port = free_port()
        self._engines = engines
        self._folder = folder
        self._child: Child | None = None
        self.url = f"redis://{HOST}:{self.port}"

    def start(self, *options: object) -> None:
        self._child = redis_child(self._engines, self._folder, self.port, *options)
        self._child.start()

    def kill(self) -> None:
        if self._child is not None:
            self._child.kill()


@pytest.fixture
def lonely(engines: Engines, tmp_path: Path) -> Iterator[Lonely]:
    server = Lonely(engines, tmp_path)
    server.start()
    yield server
    server.kill()


@pytest.fixture
async def redis(lonely: Lonely) -> AsyncIterator[Redis]:
    client = connect(lonely.url)
    yield client
    await client.aclose()


@pytest.fixture
async def queue(redis: Redis) -> Queue:
    """A queue on a server of its own, which answers."""
    queue = Queue(redis, "message_queue")
    await until_it_answers(queue)
    return queue


async def until_it_answers(queue: Queue) -> set[type[QueueUnavailable]]:
    """Ask until there is an answer; return what was raised meanwhile."""
    deadline = time.monotonic() + PATIENCE
    raised = set()
    while True:
        try:
            await queue.stats()
        except QueueUnavailable as error:
            assert time.monotonic() < deadline, "the server doesn't answer"
            raised.add(type(error))
            await asyncio.sleep(0.02)
        else:
            return raised


async def until_it_is_rewritten(redis: Redis) -> None:
    """Wait until the AOF's rewriting is over."""
    deadline = time.monotonic() + PATIENCE
    while (told := await redis.info("persistence"))["aof_rewrite_in_progress"]:
        assert time.monotonic() < deadline, told
        await asyncio.sleep(0.02)


async def test_a_redis_that_is_away(lonely: Lonely, queue: Queue) -> None:
    # Given a message, and a server that is killed
    message = entry()
    await queue.enqueue([message])
    lonely.kill()

    # When anything is asked, I expect to be told at once
    with pytest.raises(QueueUnavailable):
        await queue.enqueue([entry()])
    with pytest.raises(QueueUnavailable):
        await queue.reserve(1, 30)
    with pytest.raises(QueueUnavailable):
        await queue.wait(4)
    with pytest.raises(QueueUnavailable):
        await queue.registered([message.id])

    # When the server is back, I expect the same queue to go on, with the message
    lonely.start()
    await until_it_answers(queue)
    assert [d.id for d in await queue.reserve(1, 30)] == [message.id]


async def test_a_redis_that_is_loading(lonely: Lonely, queue: Queue, redis: Redis) -> None:
    # Given a server that takes seconds to read its data
    await redis.mset({f"ballast {n}": bytes(200) for n in range(300)})
    await redis.bgrewriteaof()
    await until_it_is_rewritten(redis)
    lonely.kill()
    lonely.start("--key-load-delay", 5000, "--loading-process-events-interval-bytes", 1024)

    # When it is asked meanwhile, I expect to be told that it loads
    assert QueueLoading in await until_it_answers(queue)


async def test_a_full_redis_takes_nothing_in_but_can_be_emptied(queue: Queue, redis: Redis) -> None:
    # Given a server that is out of memory, with messages of all kinds
    await queue.enqueue(entries(50, payload=bytes(10_000), exposed=True))
    await queue.enqueue(entries(3, payload=bytes(10_000), ordering_key=b"k"))
    await queue.enqueue(entries(3, expires_at=1))
    await redis.config_set("maxmemory", "1mb")

    # When more comes, I expect it to be refused
    with pytest.raises(QueueFull):
        await queue.enqueue([entry(payload=bytes(10_000))])

    # When everything else is done, I expect it to work, until there is room again
    await queue.expose([entry().id])
    held = await queue.reserve(10, 30)
    await queue.extend(held, 30)
    await queue.give_back(held[:2])
    await queue.retry_later([(d, 0) for d in held[2:4]])
    await queue.dead_letter([(d, Reason.REFUSED) for d in held[4:6]])
    await queue.acknowledge(held[6:])
    await queue.release_due()
    await queue.reclaim()
    await queue.dead_letter([(d, Reason.EXPIRED) for d in await queue.expire(10, 30)])
    await queue.remove([entry().id])
    while held := await queue.reserve(10, 30):
        await queue.acknowledge(held)
    assert (await queue.stats()).waiting == 0
    await redis.config_set("maxmemory", "100mb")
    await queue.enqueue([entry()])


async def test_a_redis_that_is_read_only(queue: Queue, redis: Redis) -> None:
    # Given a server that has become a replica
    message = entry()
    await queue.enqueue([message])
    await redis.replicaof(HOST, 1)

    # When it is written to, I expect to be told; reading goes on
    with pytest.raises(QueueReadOnly):
        await queue.enqueue([entry()])
    with pytest.raises(QueueReadOnly):
        await queue.reserve(1, 30)
    assert await queue.missing([message.id]) == []


async def test_a_redis_that_is_slow(lonely: Lonely, queue: Queue, redis: Redis) -> None:
    # Given a server that doesn't answer for a second, and a client with less patience
    hasty = Redis.from_url(lonely.url, socket_timeout=0.2, retry=NO_RETRY)
    await redis.client_pause(1000, all=True)

    # When it is asked, I expect to be told, once the patience is over
    began = time.monotonic()
    with pytest.raises(QueueSlow):
        await Queue(hasty, "message_queue").stats()
    assert time.monotonic() - began < 0.9
    await hasty.aclose()


async def test_a_client_without_much_patience_may_wait_all_the_same(lonely: Lonely) -> None:
    # Given a client that takes half a second of silence for an error
    hasty = Redis.from_url(lonely.url, socket_timeout=0.5, retry=NO_RETRY)
    queue = Queue(hasty, "message_queue")
    await until_it_answers(queue)

    # When it waits for longer than that, I expect no error
    assert not await queue.wait(4)
    await hasty.aclose()
