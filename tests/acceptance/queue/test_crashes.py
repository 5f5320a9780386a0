"""SIGKILL at random instants and lost replies: nothing is lost, everything is settled once."""

from collections import Counter

import pytest

from infra.dev.engines import RedisServer
from tests.acceptance.queue.crashes import ENGINE, NAIVE, run

SEED = 20251020


@pytest.mark.usefixtures("redis_url")
async def test_a_killed_consumer_loses_nothing(redis_server: RedisServer) -> None:
    # When consumers on the engine are killed hundreds of times, and replies are lost
    outcome = await run(redis_server, ENGINE, kills=300, seed=SEED)

    # I expect every message to have been delivered, and to have left the queue exactly once
    assert outcome.replies_lost > 20
    assert outcome.lost == set()
    assert outcome.left == Counter(outcome.enqueued)


@pytest.mark.usefixtures("redis_url")
async def test_the_harness_sees_what_a_naive_consumer_loses(redis_server: RedisServer) -> None:
    """The counter-example: the same harness, with messages popped off a list."""
    outcome = await run(redis_server, NAIVE, kills=100, seed=SEED)

    assert len(outcome.lost) > 10
