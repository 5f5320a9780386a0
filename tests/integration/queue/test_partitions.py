"""Partitions: an ordering key has one, everything else is spread, and the caller needn't know."""

import os
from collections import Counter

import pytest

from gatepost.queue import Enqueued, Queue, Reason
from gatepost.queue.scripts import Client
from tests.integration.queue.conftest import NAME
from tests.integration.queue.factories import entries, entry

PARTITIONS = 4


@pytest.fixture
async def queue(client: Client) -> Queue:
    """A queue of four partitions, in real time."""
    return Queue(client, NAME, partitions=PARTITIONS)


async def test_messages_are_spread_and_all_come_out(queue: Queue) -> None:
    messages = entries(200)
    assert await queue.enqueue(messages) == [Enqueued.NEW] * 200
    assert await queue.enqueue(messages[::3]) == [Enqueued.ALREADY_THERE] * 67

    held = []
    while batch := await queue.reserve(30, 30):
        held.extend(batch)

    assert {d.id: d.payload for d in held} == {m.id: m.payload for m in messages}
    spread = Counter(d.partition for d in held)
    assert len(spread) == PARTITIONS
    assert min(spread.values()) > 20


async def test_an_ordering_key_stays_together(queue: Queue) -> None:
    # Given messages of many keys, mixed
    names = [b"%d" % n for n in range(20)]
    messages = [entry(ordering_key=name) for _ in range(5) for name in names]
    await queue.enqueue(messages)

    # When they are delivered
    taken: dict[bytes, list[tuple[bytes, int]]] = {name: [] for name in names}
    key_of = {m.id: m.ordering_key for m in messages}
    while batch := await queue.reserve(50, 30):
        for delivery in batch:
            taken[key_of[delivery.id] or b""].append((delivery.id, delivery.partition))
        await queue.acknowledge(batch)

    # I expect each key in order, from one partition
    for name, deliveries in taken.items():
        assert [id_ for id_, _ in deliveries] == [m.id for m in messages if m.ordering_key == name]
        assert len({partition for _, partition in deliveries}) == 1


async def test_settlements_reach_their_partitions_in_any_mixture(queue: Queue) -> None:
    await queue.enqueue(entries(40))
    held = []
    while batch := await queue.reserve(40, 30):
        held.extend(batch)
    held.sort(key=lambda delivery: delivery.id)

    assert await queue.acknowledge(held[:10]) == [True] * 10
    assert await queue.give_back(held[5:15]) == [False] * 5 + [True] * 5
    assert await queue.retry_later([(d, 60) for d in held[15:25]]) == [True] * 10
    assert await queue.dead_letter([(d, Reason.REFUSED) for d in held[25:30]]) == [True] * 5
    assert await queue.extend(held[20:], 60) == [False] * 10 + [True] * 10
    stats = await queue.stats()
    assert (stats.ready[5], stats.delayed, stats.dead, stats.leased) == (5, 10, 5, 10)
    assert {letter.id for letter in await queue.dead_letters(3)} < {d.id for d in held[25:30]}


async def test_where_only_ids_are_given_all_are_asked(queue: Queue) -> None:
    # Given messages with and without ordering keys
    messages = [entry(ordering_key=os.urandom(4)) for _ in range(20)] + entries(20)
    await queue.enqueue(messages)
    ids, unknown = [m.id for m in messages], entry().id

    # When they are asked for by id, I expect each to be found
    assert await queue.missing([*ids, unknown]) == [unknown]
    assert [p.id if p else None for p in await queue.peek([*ids, unknown])] == [*ids, None]
    assert await queue.payloads([*ids, unknown]) == [*(m.payload for m in messages), None]
    assert await queue.expose([*ids, unknown]) == [True] * 40 + [False]
    assert {e.id for e in await queue.exposed(40)} == set(ids)
    await queue.registered(ids)
    assert await queue.exposed(40) == []
    assert await queue.remove([*ids[:30], unknown]) == [True] * 30 + [False]
    assert await queue.purge() == 10


async def test_each_partition_has_an_epoch(queue: Queue) -> None:
    epochs = await queue.epochs()

    assert len(epochs) == PARTITIONS
    assert await queue.epochs() == epochs


async def test_upkeep_reaches_all_partitions(queue: Queue) -> None:
    await queue.enqueue(entries(40, expires_at=1))
    taken = []
    while batch := await queue.expire(40, 30):
        taken.extend(batch)

    assert len(taken) == 40
    await queue.retry_later([(d, 0) for d in taken])
    assert await queue.release_due() == 40
    assert await queue.reclaim() == 0
