"""Waiting: a waiter wakes at once, then the next while there is work, and nobody needs luck."""

import asyncio
import time

from gatepost.queue import Queue, Turns
from gatepost.queue.keys import PartitionKeys
from gatepost.queue.scripts import Client
from tests.integration.queue.conftest import NAME
from tests.integration.queue.factories import entries, entry
from tests.integration.queue.testclock import TestClock

AT_ONCE = 1.0


async def test_a_waiter_wakes_when_a_message_comes(queue: Queue) -> None:
    # Given a waiter
    waiter = asyncio.create_task(queue.wait(4))
    await asyncio.sleep(0.05)

    # When a message comes, I expect it to wake long before its time is up
    began = time.monotonic()
    await queue.enqueue([entry()])
    assert await waiter
    assert time.monotonic() - began < AT_ONCE


async def test_who_comes_after_the_message_does_not_wait(queue: Queue) -> None:
    await queue.enqueue([entry()])

    began = time.monotonic()
    assert await queue.wait(4)
    assert time.monotonic() - began < AT_ONCE


async def test_nothing_to_hear(queue: Queue) -> None:
    began = time.monotonic()

    assert not await queue.wait(0.1)

    assert time.monotonic() - began < AT_ONCE


async def test_one_enqueue_wakes_all_that_are_needed(queue: Queue) -> None:
    # Given three workers who each reserve as soon as they wake
    async def work() -> int:
        count = 0
        while await queue.wait(0.5):
            while batch := await queue.reserve(10, 30):
                count += len(batch)
                await asyncio.sleep(0.02)
        return count

    workers = [asyncio.create_task(work()) for _ in range(3)]
    await asyncio.sleep(0.05)

    # When more comes with one call than one of them takes
    await queue.enqueue(entries(120))

    # I expect all of them to have had some
    counts = await asyncio.gather(*workers)
    assert sum(counts) == 120
    assert all(counts)


async def test_whatever_makes_ready_rings(queue: Queue, clock: TestClock) -> None:
    # Given one message that is given back, then due, then reclaimed
    await queue.enqueue([entry()])
    assert await queue.wait(4)
    await queue.give_back(await queue.reserve(1, 30))
    assert await queue.wait(4)
    [held] = await queue.reserve(1, 30)
    await queue.retry_later([(held, 1)])
    await clock.advance(1)
    await queue.release_due()
    assert await queue.wait(4)
    await queue.reserve(1, 30)
    await clock.advance(31)
    await queue.reclaim()
    assert await queue.wait(4)


async def test_the_next_of_a_line_rings(queue: Queue) -> None:
    await queue.enqueue(entries(2, ordering_key=b"k"))
    await queue.wait(4)
    held = await queue.reserve(10, 30)

    await queue.acknowledge(held)

    assert await queue.wait(4)


async def test_a_lost_signal_is_made_good(
    queue: Queue, client: Client, keys: PartitionKeys, clock: TestClock
) -> None:
    # Given a message whose signal went to a worker that died before it could reserve
    await queue.enqueue([entry()])
    await client.delete(keys.signal)

    # When a pool does its rounds, I expect the next waiter to be told
    await queue.release_due()
    assert await queue.wait(4)


async def test_signals_do_not_pile_up(queue: Queue, client: Client, keys: PartitionKeys) -> None:
    for _ in range(50):
        await queue.enqueue([entry()])

    assert await client.llen(keys.signal) == 1


async def test_several_partitions_are_waited_for_together(client: Client) -> None:
    # Given a waiter for eight partitions
    queue = Queue(client, NAME, partitions=8)
    for _ in range(5):
        waiter = asyncio.create_task(queue.wait(4))
        await asyncio.sleep(0.05)

        # When a message comes to any of them, I expect it to wake
        began = time.monotonic()
        await queue.enqueue([entry()])
        assert await waiter
        assert time.monotonic() - began < AT_ONCE
        assert len(await queue.reserve(1, 30)) == 1
    await queue.aclose()


async def test_several_queues_are_waited_for_and_served_in_turn(client: Client) -> None:
    # Given two queues, one of them flooded
    flooded, quiet = Queue(client, "flooded"), Queue(client, "quiet")
    turns = Turns(client)
    await turns.serve([flooded, quiet])
    await flooded.enqueue(entries(100))
    await quiet.enqueue(entries(3))

    # When batches are reserved
    assert await turns.wait(4)
    served = []
    for _ in range(4):
        batch = await turns.reserve(2, 30)
        assert batch is not None
        served.append(batch[0].name)

    # I expect both to have had their turns
    assert served == ["flooded", "quiet"] * 2 or served == ["quiet", "flooded"] * 2
    await turns.aclose()


async def test_from_a_paused_queue_nothing_is_taken_and_it_is_kept_going(client: Client) -> None:
    # Given two queues, one of them paused, with a message there whose time is over
    held, open_ = Queue(client, "held"), Queue(client, "open")
    turns = Turns(client)
    await turns.serve([held, open_], {"held"})
    await held.enqueue([entry(expires_at=1)])
    await held.enqueue(entries(3))

    # I expect nobody to be woken for it, or to be given anything of it
    assert not await turns.wait(0.2)
    assert await turns.reserve(10, 30) is None
    await open_.enqueue([entry()])
    assert await turns.wait(4)
    batch = await turns.reserve(10, 30)
    assert batch is not None
    assert batch[0] is open_

    # But what keeps queues going to know it, and what has expired to end (I5)
    assert turns.queues == [held, open_]
    assert turns.paused == ["held"]
    assert len(await held.expire(10, 30)) == 1

    # When it is resumed, I expect what waits there to be served
    await turns.serve([held, open_])
    await held.release_due()
    assert await turns.wait(4)
    batch = await turns.reserve(10, 30)
    assert batch is not None
    assert (batch[0], len(batch[1])) == (held, 3)
    await turns.aclose()
