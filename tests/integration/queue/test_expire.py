"""expire: what has outlived its time is handed out, to be reported; nothing just vanishes."""

import asyncio
from dataclasses import replace

import pytest

from gatepost.queue import Place, Queue, Reason
from tests.integration.queue.factories import entries, entry
from tests.integration.queue.testclock import TestClock

TOLERANCE = 30


async def test_what_waits_too_long_is_taken_wherever_it_waits(
    queue: Queue, clock: TestClock
) -> None:
    # Given messages that expire in 60 s: one ready, one delayed, one in line
    ends = clock.now + 60_000
    ready = entry(expires_at=ends)
    delayed = entry(expires_at=ends, due_at=clock.now + 3_600_000)
    first, in_line = entry(ordering_key=b"k"), entry(ordering_key=b"k", expires_at=ends)
    await queue.enqueue([ready, delayed, first, in_line])

    # When their time comes
    await clock.advance(59.999)
    assert await queue.expire(10, 30) == []
    await clock.advance(0.001)
    taken = await queue.expire(10, 30)

    # I expect them under a lease, uncounted, and nobody else to get them
    assert {d.id for d in taken} == {ready.id, delayed.id, in_line.id}
    assert {d.attempts for d in taken} == {0}
    assert {d.payload for d in taken} == {e.payload for e in (ready, delayed, in_line)}
    assert [d.id for d in await queue.reserve(10, 30)] == [first.id]
    assert await queue.dead_letter([(d, Reason.EXPIRED) for d in taken]) == [True] * 3
    assert await queue.missing([ready.id, delayed.id, in_line.id]) != []


async def test_what_does_not_expire_stays(queue: Queue, clock: TestClock) -> None:
    await queue.enqueue([entry(), entry(expires_at=clock.now + 10_000_000)])

    await clock.advance(3600)

    assert await queue.expire(10, 30) == []


async def test_one_that_came_out_of_order_is_not_forgotten(queue: Queue, clock: TestClock) -> None:
    # Given messages whose times are all mixed up
    lifetimes = [3600, 20, 100_000, 90, 60, 3590, 1]
    messages = [entry(expires_at=clock.now + seconds * 1000) for seconds in lifetimes]
    await queue.enqueue(messages[:3])
    await queue.enqueue(messages[3:])

    # When time passes
    seen: dict[bytes, float] = {}
    for second in range(0, 4000, 10):
        for delivery in await queue.expire(10, 10_000_000):
            seen[delivery.id] = second
        await clock.advance(10)

    # I expect each at its time, or at most the tolerance later
    expected = {m.id: s for m, s in zip(messages, lifetimes, strict=True) if s < 4000}
    assert seen.keys() == expected.keys()
    assert all(0 <= seen[id_] - expected[id_] <= TOLERANCE + 10 for id_ in seen)


async def test_a_leased_one_is_left_to_its_holder(queue: Queue, clock: TestClock) -> None:
    # Given a message that expires while it is leased
    await queue.enqueue([entry(expires_at=clock.now + 5000)])
    held = await queue.reserve(1, 30)
    await clock.advance(10)
    assert await queue.expire(10, 30) == []

    # When its holder dies, I expect it to be taken then
    await clock.advance(21)
    await queue.reclaim()
    taken = await queue.expire(10, 30)
    assert [d.id for d in taken] == [held[0].id]


async def test_its_taker_may_die_too(queue: Queue, clock: TestClock) -> None:
    # Given an expired message whose taker died
    message = entry(expires_at=clock.now + 5000)
    await queue.enqueue([message])
    await clock.advance(10)
    late = await queue.expire(10, 30)
    await clock.advance(31)
    await queue.reclaim()

    # When it is taken again, I expect it once, and the first taker to be too late
    taken = await queue.expire(10, 30)
    assert [d.id for d in taken] == [message.id]
    assert await queue.dead_letter([(late[0], Reason.EXPIRED)]) == [False]
    assert await queue.dead_letter([(taken[0], Reason.EXPIRED)]) == [True]
    assert await queue.reserve(10, 30) == []


@pytest.mark.parametrize("settled", ["acknowledge", "remove"])
async def test_one_that_was_settled_does_not_expire(
    queue: Queue, clock: TestClock, settled: str
) -> None:
    message, other = entry(expires_at=clock.now + 5000), entry()
    await queue.enqueue([message, other])
    if settled == "acknowledge":
        await queue.acknowledge(await queue.reserve(1, 30))
    else:
        await queue.remove([message.id])
    await clock.advance(10)

    assert await queue.expire(10, 30) == []


async def test_one_that_came_again_has_its_new_time(queue: Queue, clock: TestClock) -> None:
    # Given a message that was settled and came again, to live longer, while another stays
    message, stays = entry(expires_at=clock.now + 5000), entry(due_at=clock.now + 9_000_000)
    await queue.enqueue([message, stays])
    await queue.acknowledge(await queue.reserve(1, 30))
    await queue.enqueue([replace(message, expires_at=clock.now + 60_000)])

    # When its first time comes, I expect nothing; when its second comes, I expect it
    await clock.advance(10)
    assert await queue.expire(10, 30) == []
    await clock.advance(50)
    assert [d.id for d in await queue.expire(10, 30)] == [message.id]


async def test_the_line_goes_on_when_its_first_expires(queue: Queue, clock: TestClock) -> None:
    first = entry(ordering_key=b"k", expires_at=clock.now + 5000)
    second = entry(ordering_key=b"k")
    await queue.enqueue([first, second])
    await clock.advance(10)
    [taken] = await queue.expire(10, 30)
    assert await queue.reserve(10, 30) == []

    await queue.dead_letter([(taken, Reason.EXPIRED)])

    assert [d.id for d in await queue.reserve(10, 30)] == [second.id]


async def test_a_second_given_back_stays_second(queue: Queue, clock: TestClock) -> None:
    # Given the second of a line, taken because it expired
    first = entry(ordering_key=b"k")
    second = entry(ordering_key=b"k", expires_at=clock.now + 5000)
    await queue.enqueue([first, second])
    await clock.advance(10)
    taken = await queue.expire(10, 30)

    # When it is given back, I expect it behind the first
    await queue.give_back(taken)
    assert [d.id for d in await queue.reserve(10, 30)] == [first.id]
    [peeked] = await queue.peek([second.id])
    assert peeked is not None
    assert peeked.place is Place.IN_LINE


async def test_a_first_is_freed_while_the_second_is_held(queue: Queue, clock: TestClock) -> None:
    # Given a line of three whose second is held, because it expired
    first, third = entries(2, ordering_key=b"k")
    second = entry(ordering_key=b"k", expires_at=clock.now + 5000)
    await queue.enqueue([first, second, third])
    await clock.advance(10)
    held = await queue.expire(10, 30)

    # When the first is delivered, I expect the third to wait until the second is settled
    await queue.acknowledge(await queue.reserve(10, 30))
    assert await queue.reserve(10, 30) == []
    await queue.dead_letter([(held[0], Reason.EXPIRED)])
    assert [d.id for d in await queue.reserve(10, 30)] == [third.id]


async def test_a_few_at_a_time(queue: Queue, clock: TestClock) -> None:
    await queue.enqueue(entries(25, expires_at=clock.now + 5000))
    await clock.advance(10)

    batches = [len(await queue.expire(10, 30)) for _ in range(4)]

    assert batches == [10, 10, 5, 0]


async def test_an_old_time_of_one_that_came_again_holds_up_nothing(
    queue: Queue, clock: TestClock
) -> None:
    # Given a message that came again to live longer, and so many others since that its old time has
    # left the list
    start = clock.now
    again = entry(expires_at=start + 5_000_000, priority=1)
    await queue.enqueue([entry(due_at=start + 90_000_000), again])
    await queue.acknowledge(await queue.reserve(1, 30))
    await queue.enqueue([replace(again, expires_at=start + 9_000_000)])
    for _ in range(30):
        await queue.enqueue(entries(100, priority=10, expires_at=start + 9_000_000))
        await queue.acknowledge([d for d in await queue.reserve(100, 30) if d.priority == 10])
    other = entry(expires_at=start + 5_000_001)
    await queue.enqueue([other])

    # When its old time comes, I expect the other one to be seen past it
    await clock.advance(5001)
    assert [d.id for _ in range(2) for d in await queue.expire(1, 30)] == [other.id]

    # When its own time comes, I expect it
    await clock.advance(4000)
    await queue.reclaim()
    assert again.id in {d.id for _ in range(3) for d in await queue.expire(1, 30)}


async def test_a_lease_that_is_over_is_left_to_reclaim(queue: Queue, clock: TestClock) -> None:
    # Given an expired message whose lease is over, but was not reclaimed yet
    await queue.enqueue([entry(expires_at=clock.now + 5000)])
    held = await queue.reserve(1, 30)
    await clock.advance(31)

    # When it is asked for what has expired, I expect nothing, and an answer at once
    async with asyncio.timeout(5):
        assert await queue.expire(1, 30) == []

    # When it was reclaimed, I expect it
    await queue.reclaim()
    await clock.advance(1)
    assert [d.id for d in await queue.expire(1, 30)] == [held[0].id]
