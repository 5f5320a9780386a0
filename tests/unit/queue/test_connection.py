"""The client that services use repeats nothing behind their backs."""

from redis.asyncio import Redis

from gatepost.queue import connect
from gatepost.queue.signals import LONGEST_WAIT, Doorbell


async def test_nothing_is_repeated_and_nobody_waits_for_ever() -> None:
    client = connect("redis://localhost:1/0")
    settings = client.connection_pool.connection_kwargs

    assert settings["retry"].get_retries() == 0
    assert settings["socket_timeout"] > LONGEST_WAIT
    await client.aclose()


async def test_a_wait_is_shorter_than_the_patience_of_its_connection() -> None:
    for patience, expected in ((0.5, 0.25), (5, 4), (7, LONGEST_WAIT), (None, LONGEST_WAIT)):
        client = Redis(socket_timeout=patience)
        assert Doorbell(client, [b"signal"]).longest_wait == expected
        await client.aclose()
