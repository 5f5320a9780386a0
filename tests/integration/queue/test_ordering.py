"""Ordering keys: one at a time, in order, and no key holds up another."""

from dataclasses import replace

from gatepost.queue import Entry, Place, Queue, Reason
from tests.integration.queue.factories import entries, entry
from tests.integration.queue.testclock import TestClock


async def places(queue: Queue, messages: list[Entry]) -> list[Place | None]:
    seen = await queue.peek([m.id for m in messages])
    return [None if peeked is None else peeked.place for peeked in seen]


async def test_one_at_a_time_in_order_other_keys_not_held_up(queue: Queue) -> None:
    # Given three messages of each of two keys, and one without
    a, b = entries(3, ordering_key=b"a"), entries(3, ordering_key=b"b")
    plain = entry()
    await queue.enqueue([a[0], a[1], b[0], a[2], b[1], b[2], plain])

    # When batches are reserved and acknowledged
    batches = []
    while batch := await queue.reserve(10, 30):
        batches.append([d.id for d in batch])
        await queue.acknowledge(batch)

    # I expect one of each key at a time
    assert batches == [[a[0].id, b[0].id, plain.id], [a[1].id, b[1].id], [a[2].id, b[2].id]]


async def test_a_retry_holds_up_its_key(queue: Queue, clock: TestClock) -> None:
    # Given a key whose first message is to be tried later
    first, second = entries(2, ordering_key=b"k")
    other = entry(ordering_key=b"other")
    await queue.enqueue([first, second, other])
    held = {d.id: d for d in await queue.reserve(10, 30)}
    await queue.retry_later([(held[first.id], 10)])

    # When more is reserved, I expect nothing of that key
    assert await queue.reserve(10, 30) == []
    assert await places(queue, [first, second]) == [Place.DELAYED, Place.IN_LINE]

    # When the first is due, I expect it before the second
    await clock.advance(10)
    await queue.release_due()
    assert [d.id for d in await queue.reserve(10, 30)] == [first.id]


async def test_a_dead_letter_frees_the_next(queue: Queue) -> None:
    first, second = entries(2, ordering_key=b"k")
    await queue.enqueue([first, second])
    [held] = await queue.reserve(10, 30)

    await queue.dead_letter([(held, Reason.REFUSED)])

    assert [d.id for d in await queue.reserve(10, 30)] == [second.id]


async def test_what_is_given_back_or_reclaimed_is_still_the_first(
    queue: Queue, clock: TestClock
) -> None:
    first, second = entries(2, ordering_key=b"k")
    await queue.enqueue([first, second])

    await queue.give_back(await queue.reserve(10, 30))
    assert [d.id for d in await queue.reserve(10, 30)] == [first.id]
    await clock.advance(31)
    await queue.reclaim()
    assert [d.id for d in await queue.reserve(10, 30)] == [first.id]
    assert await places(queue, [second]) == [Place.IN_LINE]


async def test_a_first_that_is_not_due_holds_up_its_key(queue: Queue, clock: TestClock) -> None:
    first = entry(ordering_key=b"k", due_at=clock.now + 5000)
    second = entry(ordering_key=b"k")
    await queue.enqueue([first, second])

    assert await queue.reserve(10, 30) == []
    await clock.advance(5)
    await queue.release_due()
    assert [d.id for d in await queue.reserve(10, 30)] == [first.id]


async def test_a_second_that_is_not_due_waits_when_its_turn_comes(
    queue: Queue, clock: TestClock
) -> None:
    first = entry(ordering_key=b"k")
    second = entry(ordering_key=b"k", due_at=clock.now + 5000)
    await queue.enqueue([first, second])

    await queue.acknowledge(await queue.reserve(10, 30))

    assert await places(queue, [second]) == [Place.DELAYED]


async def test_removing_from_a_line(queue: Queue) -> None:
    # Given a line of four
    line = entries(4, ordering_key=b"k")
    await queue.enqueue(line)

    # When the second is removed, and then the first
    await queue.remove([line[1].id])
    assert await places(queue, line) == [Place.READY, None, Place.IN_LINE, Place.IN_LINE]
    await queue.remove([line[0].id])

    # I expect the third to go, and then the fourth
    held = await queue.reserve(10, 30)
    assert [d.id for d in held] == [line[2].id]
    await queue.acknowledge(held)
    assert [d.id for d in await queue.reserve(10, 30)] == [line[3].id]


async def test_a_higher_generation_joins_its_line_at_the_end(queue: Queue) -> None:
    line = entries(3, ordering_key=b"k")
    await queue.enqueue(line)

    await queue.enqueue([replace(line[0], generation=1)])

    taken: list[bytes] = []
    while batch := await queue.reserve(10, 30):
        taken.extend(d.id for d in batch)
        await queue.acknowledge(batch)
    assert taken == [line[1].id, line[2].id, line[0].id]


async def test_a_line_that_was_empty_starts_anew(queue: Queue) -> None:
    for _ in range(3):
        message = entry(ordering_key=b"k")
        await queue.enqueue([message])
        held = await queue.reserve(10, 30)
        assert [d.id for d in held] == [message.id]
        await queue.acknowledge(held)


async def test_each_goes_with_its_own_priority(queue: Queue) -> None:
    first = entry(ordering_key=b"k", priority=1)
    second = entry(ordering_key=b"k", priority=10)
    await queue.enqueue([first, second])
    await queue.acknowledge(await queue.reserve(1, 30))
    await queue.enqueue([entry(priority=5)])

    assert [d.id for d in await queue.reserve(1, 30)] == [second.id]


async def test_an_ordered_payload_comes_out_as_it_went_in(queue: Queue) -> None:
    message = entry(ordering_key=b"k", payload=bytes(range(256)))
    await queue.enqueue([message])

    assert await queue.payloads([message.id]) == [message.payload]
    assert [d.payload for d in await queue.reserve(1, 30)] == [message.payload]
