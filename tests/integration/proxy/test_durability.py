"""What Redis has acknowledged is there after it was stopped or killed (I1), whoever wrote it."""

from collections.abc import Iterator

import pytest

from gatepost.queue import Entry, Queue, connect
from infra.dev.engines import Engines, RedisServer


@pytest.fixture
def server(engines: Engines, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """One of our own: it is stopped and killed."""
    with RedisServer(engines, tmp_path_factory.mktemp("redis")) as server:
        yield server


def entries(number: int) -> list[Entry]:
    return [
        Entry(id=n.to_bytes(16, "big"), payload=b"payload %d" % n, exposed=True)
        for n in range(number)
    ]


@pytest.mark.parametrize("end", ["stop", "kill"])
async def test_messages_outlive_the_server(server: RedisServer, end: str) -> None:
    """Scripts are kept as transactions, and replayed by a user of their own: it must be allowed."""
    async with connect(server.url("gatepost_proxy")) as redis:
        await Queue(redis, "message_queue").enqueue(entries(50))
    async with connect(server.url("gatepost_worker")) as redis:
        queue = Queue(redis, "message_queue")
        held = await queue.reserve(20, 30)
        await queue.acknowledge(held[:10])
        await queue.retry_later([(one, 600) for one in held[10:15]])
        before = await queue.stats()
    getattr(server, end)()
    server.start()
    async with connect(server.url("gatepost_main")) as redis:
        queue = Queue(redis, "message_queue")
        after = await queue.stats()
        assert (after.ready, after.leased, after.delayed, after.exposed) == (
            before.ready,
            before.leased,
            before.delayed,
            before.exposed,
        )
        assert after.waiting == 40
        wanted = [one.id for one in entries(50)]
        gone = {one.id for one in held[:10]}
        payloads = await queue.payloads(wanted)
        for n, (id_, payload) in enumerate(zip(wanted, payloads, strict=True)):
            assert payload == (None if id_ in gone else b"payload %d" % n)
    assert "CRITICAL" not in (server.folder / "redis.log").read_text()


async def test_a_rate_and_a_claim_outlive_it_too(server: RedisServer) -> None:
    async with connect(server.url("gatepost_proxy")) as redis:
        script = redis.register_script(
            "redis.call('HSET', KEYS[1], 'a', '1') redis.call('EXPIRE', KEYS[1], '600')"
        )
        await script(keys=["gatepost:test"])
    server.restart()
    async with connect(server.url("gatepost_proxy")) as redis:
        assert await redis.hget("gatepost:test", "a") == b"1"
        assert 0 < await redis.ttl("gatepost:test") <= 600


@pytest.mark.parametrize("credentials", ["", "default:@", "default:x@", ":@"])
async def test_nobody_is_the_default_user(server: RedisServer, credentials: str) -> None:
    url = f"redis://{credentials}127.0.0.1:{server.port}/0"
    async with connect(url) as redis:
        with pytest.raises(Exception, match=r"(?i)auth|password"):
            await redis.ping()
