"""remove, purge, and the memory: what is gone leaves nothing behind."""

from typing import Any

from gatepost.queue import Delivery, Queue, Reason
from gatepost.queue.keys import PartitionKeys
from gatepost.queue.scripts import Client
from tests.integration.queue.audit import faults, take_snapshot
from tests.integration.queue.factories import entries, entry
from tests.integration.queue.testclock import TestClock


async def used_memory(client: Client, keys: PartitionKeys) -> int:
    """Return what the partition's keys take; each is sampled whole."""
    sizes: list[Any] = [await client.memory_usage(key, samples=0) for key in keys.declared]
    return sum(filter(None, sizes))


async def reserve_all(queue: Queue) -> list[Delivery]:
    held = []
    while batch := await queue.reserve(500, 30):
        held.extend(batch)
    return held


async def test_remove_takes_a_message_out_wherever_it_is(queue: Queue, clock: TestClock) -> None:
    # Given a message in each place
    leased, ready, delayed = entry(priority=10), entry(), entry(due_at=clock.now + 9000)
    line = entries(2, ordering_key=b"k")
    await queue.enqueue([leased, ready, delayed, *line])
    held = await queue.reserve(1, 30)
    ids = [e.id for e in (leased, ready, delayed, *line)]

    # When they are removed
    assert await queue.remove([*ids, entry().id]) == [True] * 5 + [False]

    # I expect nothing left, and the holder to be too late
    assert await queue.missing(ids) == ids
    assert await queue.acknowledge(held) == [False]
    assert await queue.reserve(10, 30) == []


async def test_what_is_removed_and_comes_again_joins_at_the_tail(queue: Queue) -> None:
    # Given a message that was removed from the middle, and came again
    messages = entries(5)
    await queue.enqueue(messages)
    await queue.remove([messages[2].id])
    await queue.enqueue([messages[2]])

    # When all are reserved, I expect it last, and once
    order = [0, 1, 3, 4, 2]
    assert [d.id for d in await queue.reserve(10, 30)] == [messages[n].id for n in order]


async def test_a_long_stretch_of_removed_ones_is_passed(queue: Queue) -> None:
    # Given one message behind 3,000 that were removed from the middle
    first, gone, last = entry(), entries(3000), entry()
    await queue.enqueue([first, *gone, last])
    await queue.remove([e.id for e in gone])

    # When messages are reserved, I expect the two
    assert [d.id for d in await queue.reserve(2, 30)] == [first.id]
    assert [d.id for d in await queue.reserve(2, 30)] == [last.id]


async def test_purge_forgets_all_but_the_dead(queue: Queue, clock: TestClock) -> None:
    await queue.enqueue(entries(3) + entries(2, ordering_key=b"k") + entries(2, priority=9))
    held = await queue.reserve(2, 30)
    await queue.dead_letter([(held[0], Reason.REFUSED)])

    assert await queue.purge() == 6

    assert (await queue.stats()).waiting == 0
    assert len(await queue.dead_letters(10)) == 1
    assert await queue.acknowledge(held) == [False, False]


async def test_memory_goes_back_to_where_it_was(
    queue: Queue, client: Client, keys: PartitionKeys, clock: TestClock
) -> None:
    # Given a queue that has been used
    await queue.enqueue(entries(10, priority=10) + entries(10, priority=1))
    await queue.acknowledge(await reserve_all(queue))
    start = await used_memory(client, keys)

    # When thousands of messages of all kinds come, wait, and are settled in all ways
    ends = clock.now + 3_600_000
    await queue.enqueue(entries(2000, expires_at=ends, payload=bytes(400)))
    await queue.enqueue(entries(500, ordering_key=b"k", expires_at=ends - 60_000, exposed=True))
    await queue.enqueue(entries(500, due_at=clock.now + 5000, priority=3))
    removed = entries(500, priority=2)
    await queue.enqueue(removed)
    await queue.remove([e.id for e in removed])
    assert await used_memory(client, keys) > 1_000_000
    held = await reserve_all(queue)
    await queue.retry_later([(d, 1) for d in held[:100]])
    await queue.give_back(held[100:200])
    await queue.acknowledge(held[200:])
    await clock.advance(40)
    while (await queue.stats()).waiting:
        await queue.release_due()
        await queue.reclaim()
        await queue.acknowledge(await reserve_all(queue))

    # I expect the same as before
    assert await used_memory(client, keys) == start
    assert faults(await take_snapshot(client, keys)) == []


async def test_a_waiting_message_costs_little_more_than_its_payload(
    queue: Queue, client: Client, keys: PartitionKeys, clock: TestClock
) -> None:
    for _ in range(20):
        await queue.enqueue(entries(500, payload=bytes(400), expires_at=clock.now + 3_600_000))

    assert await used_memory(client, keys) / 10_000 < 600


async def test_settled_messages_do_not_pile_up_in_the_expiry_list(
    queue: Queue, client: Client, keys: PartitionKeys, clock: TestClock
) -> None:
    # Given one old message that stays
    stays = entry(due_at=clock.now + 9_000_000, expires_at=clock.now + 3_600_000)
    await queue.enqueue([stays])

    # When many come and go
    for _ in range(60):
        await queue.enqueue(entries(100, expires_at=clock.now + 3_600_000))
        await queue.acknowledge(await queue.reserve(100, 30))

    # I expect a short list, and the old one to expire all the same
    assert await client.llen(keys.named("expiry")) < 1500
    await clock.advance(3700)
    assert [d.id for d in await queue.expire(10, 30)] == [stays.id]


async def test_a_payload_lost_from_outside_stops_nothing(
    queue: Queue, client: Client, keys: PartitionKeys, clock: TestClock
) -> None:
    """As when an operator deletes a field by hand."""
    # Given messages in several places, one payload of each of which is deleted
    ready, leased = entries(2), entries(2, priority=10)
    delayed = entries(2, due_at=clock.now + 1000)
    await queue.enqueue([*leased, *ready, *delayed])
    await queue.expose([e.id for e in (*ready, *delayed)])
    await queue.reserve(2, 5)
    for message in (ready[0], leased[0], delayed[0]):
        await client.execute_command("HDEL", keys.payload, message.id)
        await client.execute_command("HDEL", keys.named("meta"), message.id)

    # When the queue goes on, I expect the others to be delivered
    await clock.advance(10)
    await queue.release_due()
    await queue.reclaim()
    taken = [d.id for _ in range(6) for d in await queue.reserve(10, 30)]
    assert set(taken) == {leased[1].id, ready[1].id, delayed[1].id}
    assert {e.id for e in await queue.exposed(10)} == {ready[1].id, delayed[1].id}
