"""reserve: leased in the same step, an attempt counted; priorities; lost leases come back alone."""

from collections import Counter

from gatepost.queue import Place, Queue
from tests.integration.queue.factories import entries, entry
from tests.integration.queue.testclock import TestClock


async def test_what_is_reserved_is_reserved_by_nobody_else(queue: Queue) -> None:
    await queue.enqueue(entries(3))

    first, second = await queue.reserve(2, 30), await queue.reserve(2, 30)

    assert len({d.id for d in first + second}) == 3
    assert await queue.reserve(2, 30) == []


async def test_a_delivery_says_all_that_its_holder_needs(queue: Queue, clock: TestClock) -> None:
    message = entry(priority=7, expires_at=clock.now + 60_000, generation=2)
    await queue.enqueue([message])
    enqueued_at = clock.now
    await clock.advance(3)

    [delivery] = await queue.reserve(1, 30)

    assert delivery.id == message.id
    assert delivery.payload == message.payload
    assert delivery.priority == 7
    assert delivery.attempts == 1
    assert delivery.generation == 2
    assert delivery.enqueued_at == enqueued_at
    assert delivery.expires_at == message.expires_at
    assert delivery.deadline == clock.now + 30_000


async def test_what_was_due_later_has_waited_since_then(queue: Queue, clock: TestClock) -> None:
    """Nobody was late with it before: a queue of such messages isn't behind."""
    due = clock.now + 3_600_000
    await queue.enqueue([entry(due_at=due)])
    await clock.advance(3601)
    await queue.release_due()
    assert (await queue.stats()).oldest_ms == 1000
    [delivery] = await queue.reserve(1, 30)
    assert delivery.enqueued_at == due


async def test_an_attempt_is_counted_before_it_is_made(queue: Queue, clock: TestClock) -> None:
    # Given a message that has killed two workers
    await queue.enqueue([entry()])
    for _ in range(2):
        await queue.reserve(1, 30)
        await clock.advance(31)
        await queue.reclaim()

    # When it is reserved again, I expect those attempts to count
    assert [d.attempts for d in await queue.reserve(1, 30)] == [3]


async def test_the_highest_priority_goes_first(queue: Queue) -> None:
    low, high, middle = entry(priority=1), entry(priority=10), entry(priority=5)
    await queue.enqueue([low, middle, high])

    deliveries = await queue.reserve(3, 30)

    assert [d.id for d in deliveries] == [high.id, middle.id, low.id]


async def test_no_priority_waits_for_ever(queue: Queue) -> None:
    # Given plenty of messages of each priority
    for priority in range(1, 11):
        await queue.enqueue(entries(300, priority=priority))

    # When some of them are reserved
    batches = [await queue.reserve(18, 30) for _ in range(40)]
    taken = Counter(d.priority for batch in batches for d in batch)

    # I expect seven of eight to be of the highest … which then is used up, and the next follows …
    assert taken[10] == 300
    assert taken[9] > 200
    # … and each of the lower ones to have had its turns
    assert all(taken[priority] >= 8 for priority in range(1, 9))


async def test_turns_are_the_same_however_small_the_batches(queue: Queue) -> None:
    await queue.enqueue(entries(200, priority=10) + entries(200, priority=2))

    batches = [await queue.reserve(1, 30) for _ in range(80)]
    taken = Counter(d.priority for batch in batches for d in batch)

    assert taken == {10: 70, 2: 10}


async def test_a_lower_priority_alone_is_served_at_once(queue: Queue) -> None:
    await queue.enqueue(entries(20, priority=1))

    assert len(await queue.reserve(20, 30)) == 20


async def test_what_lost_its_lease_comes_alone(queue: Queue, clock: TestClock) -> None:
    # Given a batch of three whose worker died
    poisoned = entries(3)
    await queue.enqueue(poisoned)
    await queue.reserve(3, 30)
    await clock.advance(31)
    assert await queue.reclaim() == 3

    # When batches are reserved, I expect each of the three alone, in order
    batches = [await queue.reserve(10, 30) for _ in range(4)]
    assert [[d.id for d in batch] for batch in batches] == [[e.id] for e in poisoned] + [[]]


async def test_what_comes_alone_holds_nobody_up(queue: Queue, clock: TestClock) -> None:
    # Given a batch whose worker died, and others that wait
    await queue.enqueue(entries(100))
    await queue.reserve(100, 30)
    await clock.advance(31)
    await queue.reclaim()
    others = entries(20, priority=1)
    await queue.enqueue(others)

    # When batches are reserved
    batches = [await queue.reserve(10, 30) for _ in range(102)]

    # I expect every fourth to be of the others, together, and then the rest of those alone
    assert [len(batch) for batch in batches] == [1, 1, 1, 10] * 2 + [1] * 94
    assert [d.id for batch in batches[3:8:4] for d in batch] == [e.id for e in others]


async def test_ghosts_are_not_others_that_wait(queue: Queue, clock: TestClock) -> None:
    # Given seven that lost their leases, one other, and behind it the ghost of a removed one
    await queue.enqueue(entries(7))
    await queue.reserve(7, 30)
    await clock.advance(31)
    await queue.reclaim()
    other, removed = entries(2)
    await queue.enqueue([other, removed])
    await queue.remove([removed.id])

    # When they are reserved, I expect none to find nothing, the others' second turn either
    found = [len(await queue.reserve(1, 30)) for _ in range(9)]
    assert found == [1] * 8 + [0]


async def test_what_goes_alone_is_told_apart(queue: Queue, clock: TestClock) -> None:
    await queue.enqueue(entries(3))
    await queue.reserve(2, 30)
    await clock.advance(31)
    await queue.reclaim()

    stats = await queue.stats()

    assert (stats.alone, stats.ready[5], stats.reservable, stats.waiting) == (2, 1, 3, 3)


async def test_what_must_come_alone_gets_its_turn_in_a_flood(
    queue: Queue, clock: TestClock
) -> None:
    # Given low messages that lost their leases, and a flood of high ones
    await queue.enqueue(entries(5, priority=1))
    await queue.reserve(5, 30)
    await clock.advance(31)
    await queue.reclaim()
    await queue.enqueue(entries(400, priority=10))

    # When batches are reserved
    batches = [await queue.reserve(20, 30) for _ in range(20)]

    # I expect the five among them, each alone, and the flood to go on between them
    alone = [batch for batch in batches if batch[0].priority == 1]
    assert [len(batch) for batch in alone] == [1] * 5
    flood = sum(len(batch) for batch in batches if batch[0].priority == 10)
    assert flood >= 7 * 4


async def test_a_retry_is_trusted_in_a_batch_again(queue: Queue, clock: TestClock) -> None:
    # Given a message that lost its lease, came alone, and is to be tried later
    await queue.enqueue([entry()])
    await queue.reserve(1, 30)
    await clock.advance(31)
    await queue.reclaim()
    [delivery] = await queue.reserve(1, 30)
    await queue.retry_later([(delivery, 1)])
    await clock.advance(2)
    await queue.release_due()

    # When it is reserved with another, I expect one batch
    await queue.enqueue([entry()])
    assert len(await queue.reserve(10, 30)) == 2


async def test_a_message_that_nobody_has_tried_is_still_alone(
    queue: Queue, clock: TestClock
) -> None:
    # Given a message that lost its lease, came alone, and was given back untried
    await queue.enqueue([entry()])
    await queue.reserve(1, 30)
    await clock.advance(31)
    await queue.reclaim()
    await queue.give_back(await queue.reserve(1, 30))
    await queue.enqueue([entry()])

    # When it is reserved, I expect it alone again
    assert len(await queue.reserve(10, 30)) == 1


async def test_a_lease_of_nothing_leaves_nothing(queue: Queue) -> None:
    assert await queue.reserve(5, 30) == []
    assert (await queue.stats()).waiting == 0


async def test_the_second_of_a_line_is_not_reserved(queue: Queue) -> None:
    first, second = entries(2, ordering_key=b"k")
    await queue.enqueue([first, second])

    assert [d.id for d in await queue.reserve(10, 30)] == [first.id]
    places = [p.place for p in await queue.peek([first.id, second.id]) if p]
    assert places == [Place.LEASED, Place.IN_LINE]
