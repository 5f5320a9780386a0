"""peek, payloads, missing, stats, exposed, dead letters, epochs: they tell, and change nothing."""

from gatepost.queue import Peeked, Place, Queue, Reason
from gatepost.queue.keys import PartitionKeys
from gatepost.queue.scripts import Client
from tests.integration.queue.conftest import empty
from tests.integration.queue.factories import entries, entry
from tests.integration.queue.testclock import TestClock


async def test_peek_tells_how_each_fares(queue: Queue, clock: TestClock) -> None:
    # Given one message in each place
    start = clock.now
    leased, dead, delayed = entry(priority=9), entry(priority=8), entry(due_at=start + 9000)
    ready, unknown = entry(priority=2, expires_at=start + 100_000), entry()
    first, in_line = entries(2, ordering_key=b"k", priority=1)
    await queue.enqueue([leased, dead, delayed, ready, first, in_line])
    await clock.advance(1)
    held = await queue.reserve(2, 30)
    await queue.dead_letter([(held[1], Reason.REFUSED)])

    # When they are looked at
    asked = [leased, dead, delayed, ready, in_line, unknown]
    seen = await queue.peek([e.id for e in asked])

    # I expect to be told where they are, and the times that matter
    assert seen[0] == Peeked(leased.id, Place.LEASED, 1, 0, 9, start, leased_until=held[0].deadline)
    assert seen[1] is not None
    assert seen[1].place is Place.DEAD
    assert seen[1].dead == (await queue.dead_letters(1))[0]
    due = start + 9000
    assert seen[2] == Peeked(delayed.id, Place.DELAYED, 0, 0, 5, due, due_at=due)
    assert seen[3] == Peeked(ready.id, Place.READY, 0, 0, 2, start, expires_at=ready.expires_at)
    assert seen[4] == Peeked(in_line.id, Place.IN_LINE, 0, 0, 1, start)
    assert seen[5] is None


async def test_payloads_are_found_wherever_they_wait(queue: Queue, clock: TestClock) -> None:
    leased, delayed, unknown = entry(), entry(due_at=clock.now + 9000), entry()
    first, in_line = entries(2, ordering_key=b"k", payload=b"")
    await queue.enqueue([leased, delayed, first, in_line])
    await queue.reserve(1, 30)

    found = await queue.payloads([e.id for e in (leased, delayed, in_line, unknown)])

    assert found == [leased.payload, delayed.payload, b"", None]


async def test_what_is_missing_waits_nowhere(queue: Queue, clock: TestClock) -> None:
    # Given messages in every place, one settled, one dead, and one that never came
    leased, settled, dead = entries(3, priority=10)
    waiting = [entry(), entry(due_at=clock.now + 9000), *entries(2, ordering_key=b"k")]
    never = entry()
    await queue.enqueue([leased, settled, dead, *waiting])
    held = await queue.reserve(3, 30)
    await queue.acknowledge([held[1]])
    await queue.dead_letter([(held[2], Reason.REFUSED)])

    # When it is asked which are missing
    asked = [e.id for e in (leased, settled, dead, never, *waiting)]

    # I expect those that have no payload here
    assert await queue.missing(asked) == [settled.id, dead.id, never.id]
    assert await queue.missing([]) == []


async def test_stats_count_by_state_and_priority(queue: Queue, clock: TestClock) -> None:
    # Given messages in every place
    await queue.enqueue(entries(4, priority=10) + entries(2, priority=3))
    await queue.enqueue(entries(5, ordering_key=b"k", priority=1))
    await queue.enqueue(entries(3, due_at=clock.now + 9000, exposed=True))
    held = await queue.reserve(2, 30)
    await queue.dead_letter([(held[0], Reason.REFUSED)])

    # When they are counted
    stats = await queue.stats()

    # I expect each once
    assert {n: count for n, count in stats.ready.items() if count} == {10: 2, 3: 2, 1: 1}
    assert (stats.leased, stats.delayed, stats.in_line) == (1, 3, 4)
    assert (stats.dead, stats.exposed) == (1, 3)
    assert stats.waiting == 13


async def test_the_age_of_the_oldest(queue: Queue, clock: TestClock) -> None:
    assert (await queue.stats()).oldest_ms == 0
    await queue.enqueue([entry(priority=1)])
    await clock.advance(7)
    await queue.enqueue([entry(priority=10)])

    assert (await queue.stats()).oldest_ms == 7000


async def test_what_was_removed_from_the_middle_is_not_counted(queue: Queue) -> None:
    messages = entries(10)
    await queue.enqueue(messages)

    await queue.remove([m.id for m in messages[3:6]])

    assert (await queue.stats()).ready[5] == 7


async def test_what_only_redis_has(queue: Queue) -> None:
    # Given one message that came exposed, one that turned out to be, and one that isn't
    came, became, safe, unknown = entry(exposed=True), entry(ordering_key=b"k"), entry(), entry()
    await queue.enqueue([came, became, safe])
    assert await queue.expose([became.id, unknown.id]) == [True, False]

    # When they are listed, I expect all that it takes to register them
    listed = {message.id: message for message in await queue.exposed(10)}
    assert {id_: m.payload for id_, m in listed.items()} == {
        came.id: came.payload,
        became.id: became.payload,
    }
    assert len(await queue.exposed(1)) == 1

    # When one is registered, and the other delivered, I expect none
    await queue.registered([came.id, unknown.id])
    await queue.acknowledge([d for d in await queue.reserve(3, 30) if d.id == became.id])
    assert await queue.exposed(10) == []


async def test_an_epoch_lasts_as_long_as_the_data(queue: Queue, client: Client) -> None:
    # Given an epoch
    before = await queue.epochs()
    assert await queue.epochs() == before

    # When Redis is wiped, I expect another
    await empty(client)
    assert await queue.epochs() != before


async def test_asking_does_not_write(
    queue: Queue, client: Client, keys: PartitionKeys, clock: TestClock
) -> None:
    message = entry()
    await queue.enqueue([message])
    before = [await client.dump(key) for key in keys.declared]

    await queue.peek([message.id])
    await queue.payloads([message.id])
    await queue.missing([message.id])
    await queue.stats()
    await queue.exposed(10)
    await queue.dead_letters(10)

    assert [await client.dump(key) for key in keys.declared] == before


async def test_the_foremost_are_told_in_the_order_of_their_turns(
    queue: Queue, clock: TestClock
) -> None:
    # Given some in each place, and one that left a ghost behind
    leased, gone = entry(priority=9), entry(priority=8)
    delayed, low, high = entry(due_at=clock.now + 9000), entry(priority=1), entries(2, priority=7)
    first, in_line = entries(2, ordering_key=b"k", priority=6)
    await queue.enqueue([leased, gone, delayed, low, *high, first, in_line])
    await queue.reserve(1, 30)
    await queue.remove([gone.id])

    # When they are looked at, I expect each once, where it is
    seen = await queue.foremost(10)
    assert [one.id for one in seen] == [
        one.id for one in (leased, *high, first, low, delayed, in_line)
    ]
    assert [one.place for one in seen[-2:]] == [Place.DELAYED, Place.IN_LINE]
    assert [one.id for one in await queue.foremost(2)] == [leased.id, high[0].id]


async def test_dead_letters_are_forgotten_and_nothing_else(queue: Queue, clock: TestClock) -> None:
    await queue.enqueue(entries(3))
    held = await queue.reserve(2, 30)
    await queue.dead_letter([(one, Reason.REFUSED) for one in held])

    assert await queue.forget_dead() == 2
    assert await queue.forget_dead() == 0
    assert await queue.dead_letters(10) == []
    assert (await queue.stats()).waiting == 1
