"""A Redis that was away for a moment leaves no trap behind: connections that broke off while nobody
used them are not used again, so that no commit's outcome is unknown for their sake."""

import asyncio

from gatepost.queue import Entry, Queue, connect
from infra.dev.engines import RedisServer
from tests.factories import ids
from tests.heard import settled
from tests.wire import Wire


async def test_what_broke_off_in_the_pool_is_replaced_before_it_is_used(
    redis_server: RedisServer, redis_url: str
) -> None:
    with Wire(redis_server.port) as wire:
        redis = connect(redis_url.replace(f":{redis_server.port}/", f":{wire.port}/"))
        queue = Queue(redis, "message_queue")
        await asyncio.gather(*(redis.time() for _ in range(8)))
        await asyncio.to_thread(wire.cut)
        await settled()
        for _ in range(8):
            await queue.enqueue([Entry(id=ids.new().bytes, payload=b"?")])
        assert (await queue.stats()).waiting == 8
        await redis.aclose()
