"""acknowledge, retry_later, give_back, dead_letter, extend: only by the holder, only once."""

from collections.abc import Awaitable, Callable

import pytest

from gatepost.queue import Delivery, Place, Queue, Reason
from tests.integration.queue.factories import entries, entry
from tests.integration.queue.testclock import TestClock

Settle = Callable[[Queue, list[Delivery]], Awaitable[list[bool]]]

SETTLEMENTS: dict[str, Settle] = {
    "acknowledge": lambda queue, held: queue.acknowledge(held),
    "give_back": lambda queue, held: queue.give_back(held),
    "retry_later": lambda queue, held: queue.retry_later([(d, 1.0) for d in held]),
    "dead_letter": lambda queue, held: queue.dead_letter([(d, Reason.REFUSED) for d in held]),
    "extend": lambda queue, held: queue.extend(held, 60),
}
EVERY_SETTLEMENT = pytest.mark.parametrize("settle", SETTLEMENTS.values(), ids=SETTLEMENTS.keys())


@EVERY_SETTLEMENT
async def test_a_late_settlement_is_refused(queue: Queue, clock: TestClock, settle: Settle) -> None:
    # Given a message whose lease was lost, and that somebody else holds now
    await queue.enqueue([entry()])
    late = await queue.reserve(1, 30)
    await clock.advance(31)
    await queue.reclaim()
    held = await queue.reserve(1, 30)

    # When the first holder settles, I expect it to be told, and nothing to have changed
    assert await settle(queue, late) == [False]
    assert await queue.acknowledge(held) == [True]


@EVERY_SETTLEMENT
async def test_what_was_taken_back_is_refused_before_it_is_reserved_again(
    queue: Queue, clock: TestClock, settle: Settle
) -> None:
    message = entry()
    await queue.enqueue([message])
    late = await queue.reserve(1, 30)
    await clock.advance(31)
    await queue.reclaim()

    assert await settle(queue, late) == [False]
    assert [d.id for d in await queue.reserve(1, 30)] == [message.id]


@EVERY_SETTLEMENT
async def test_each_delivery_is_answered_for_itself(queue: Queue, settle: Settle) -> None:
    # Given four deliveries, two of which are settled
    await queue.enqueue(entries(4))
    held = await queue.reserve(4, 30)
    await queue.acknowledge([held[0], held[2]])

    # When all are settled, I expect the two others to be applied
    assert await settle(queue, held) == [False, True, False, True]


@pytest.mark.parametrize(
    "settle",
    [settle for name, settle in SETTLEMENTS.items() if name != "extend"],
    ids=[name for name in SETTLEMENTS if name != "extend"],
)
async def test_a_delivery_is_settled_once(queue: Queue, settle: Settle) -> None:
    await queue.enqueue([entry()])
    held = await queue.reserve(1, 30)

    assert await settle(queue, [held[0], held[0]]) == [True, False]
    assert await settle(queue, held) == [False]


async def test_a_delivery_holds_until_it_is_taken_back(queue: Queue, clock: TestClock) -> None:
    # Given a lease that is over, but that nobody has reclaimed yet
    await queue.enqueue([entry()])
    held = await queue.reserve(1, 30)
    await clock.advance(31)

    # When it is settled, I expect it to count: nobody else has the message
    assert await queue.acknowledge(held) == [True]


async def test_what_is_acknowledged_is_gone(queue: Queue) -> None:
    message = entry()
    await queue.enqueue([message])

    await queue.acknowledge(await queue.reserve(1, 30))

    assert await queue.peek([message.id]) == [None]
    assert (await queue.stats()).waiting == 0


async def test_a_retry_waits_for_its_time(queue: Queue, clock: TestClock) -> None:
    # Given two messages that are to be tried again, the first one later than the second
    later, sooner = entries(2)
    await queue.enqueue([later, sooner])
    held = await queue.reserve(2, 30)
    await queue.retry_later([(held[0], 20), (held[1], 10)])

    # When their times come, I expect one after the other, with the attempt counted
    await clock.advance(9.999)
    assert await queue.release_due() == 0
    await clock.advance(0.001)
    assert await queue.release_due() == 1
    assert [(d.id, d.attempts) for d in await queue.reserve(2, 30)] == [(sooner.id, 2)]
    await clock.advance(10)
    assert await queue.release_due() == 1
    assert [(d.id, d.attempts) for d in await queue.reserve(2, 30)] == [(later.id, 2)]


async def test_what_is_due_joins_at_the_tail_in_the_order_it_is_due(
    queue: Queue, clock: TestClock
) -> None:
    # Given three retries and one that is ready
    retries, ready = entries(3), entry()
    await queue.enqueue(retries)
    held = await queue.reserve(3, 30)
    await queue.retry_later([(held[0], 3), (held[1], 1), (held[2], 2)])
    await queue.enqueue([ready])

    # When all are due
    await clock.advance(5)
    await queue.release_due()

    # I expect the ready one first, then the others by their time
    expected = [ready.id, retries[1].id, retries[2].id, retries[0].id]
    assert [d.id for d in await queue.reserve(10, 30)] == expected


async def test_what_is_given_back_goes_to_the_head_uncounted(queue: Queue) -> None:
    # Given a batch, and others behind it
    batch, others = entries(3), entries(2)
    await queue.enqueue(batch + others)
    held = await queue.reserve(3, 30)

    # When it is given back
    assert await queue.give_back(held) == [True] * 3

    # I expect the same order as if it had not been reserved, and no attempt counted
    again = await queue.reserve(10, 30)
    assert [d.id for d in again] == [e.id for e in batch + others]
    assert {d.attempts for d in again} == {1}


async def test_what_was_given_back_is_not_settled_by_the_tag_it_had(queue: Queue) -> None:
    await queue.enqueue([entry()])
    before = await queue.reserve(1, 30)
    await queue.give_back(before)
    now = await queue.reserve(1, 30)

    assert before[0].attempts == now[0].attempts
    assert await queue.acknowledge(before) == [False]
    assert await queue.acknowledge(now) == [True]


async def test_a_dead_letter_leaves_id_reason_and_time(queue: Queue, clock: TestClock) -> None:
    # Given two messages that are given up for different reasons, one after the other
    first, second = entries(2)
    await queue.enqueue([first, second])
    held = await queue.reserve(2, 30)
    await queue.dead_letter([(held[0], Reason.ATTEMPTS_USED)])
    await clock.advance(1)
    await queue.dead_letter([(held[1], Reason.UNREADABLE)])

    # When the index is read, I expect the latest first, and no payload anywhere
    letters = await queue.dead_letters(10)
    assert [(letter.id, letter.reason, letter.died_at) for letter in letters] == [
        (second.id, Reason.UNREADABLE, clock.now),
        (first.id, Reason.ATTEMPTS_USED, clock.now - 1000),
    ]
    assert await queue.dead_letters(1) == letters[:1]
    assert await queue.payloads([first.id, second.id]) == [None, None]


async def test_the_dead_index_keeps_the_latest(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given an index that keeps three
    monkeypatch.setattr("gatepost.queue.partition.REMEMBERED_DEAD", 3)
    messages = entries(5)
    await queue.enqueue(messages)
    held = await queue.reserve(5, 30)

    # When five are given up, one after the other
    for delivery in held:
        await queue.dead_letter([(delivery, Reason.REFUSED)])

    # I expect the last three
    kept = {letter.id for letter in await queue.dead_letters(10)}
    assert len(kept) == 3


async def test_an_extended_lease_is_not_reclaimed(queue: Queue, clock: TestClock) -> None:
    # Given two leases, one of which is extended
    await queue.enqueue(entries(2))
    held = await queue.reserve(2, 30)
    await clock.advance(20)
    assert await queue.extend(held[:1], 30) == [True]

    # When the first lease would be over
    await clock.advance(11)

    # I expect only the other to be taken back
    assert await queue.reclaim() == 1
    assert await queue.acknowledge(held) == [True, False]


async def test_a_lease_that_runs_is_not_reclaimed(queue: Queue, clock: TestClock) -> None:
    await queue.enqueue([entry()])
    held = await queue.reserve(1, 30)
    await clock.advance(29.999)

    assert await queue.reclaim() == 0
    assert await queue.acknowledge(held) == [True]


async def test_what_loses_its_lease_again_joins_behind_the_others(
    queue: Queue, clock: TestClock
) -> None:
    """Or a few that kill each worker would keep all others from their second try."""
    # Given two messages that lost their leases, of which the first one does so again
    bad, other = entries(2)
    await queue.enqueue([bad, other])
    await queue.reserve(2, 30)
    await clock.advance(31)
    await queue.reclaim()
    assert [d.id for d in await queue.reserve(1, 30)] == [bad.id]
    await clock.advance(31)
    await queue.reclaim()

    # When they are reserved, I expect the other one's turn first
    assert [d.id for _ in range(2) for d in await queue.reserve(1, 30)] == [other.id, bad.id]


async def test_a_ghost_of_its_first_life_takes_nobodys_turn(queue: Queue, clock: TestClock) -> None:
    # Given one that goes alone, is removed, comes again, and loses its lease again
    first, again, last = entries(3)
    await queue.enqueue([first, again, last])
    await queue.reserve(3, 30)
    await clock.advance(31)
    await queue.reclaim()
    await queue.remove([again.id])
    await queue.enqueue([again])
    while found := await queue.reserve(1, 10):
        if found[0].id == again.id:
            break
    await clock.advance(31)
    await queue.reclaim()

    # When all are reserved, I expect each once
    taken = [d.id for _ in range(4) for d in await queue.reserve(1, 30)]
    assert sorted(taken) == sorted([first.id, again.id, last.id])


async def test_reclaimed_messages_keep_their_order(queue: Queue, clock: TestClock) -> None:
    # Given two batches whose worker died
    first, second = entries(3), entries(3)
    await queue.enqueue(first + second)
    await queue.reserve(3, 30)
    await clock.advance(0.01)
    await queue.reserve(3, 30)
    await clock.advance(31)

    # When they are reclaimed, a few at a time
    assert [await queue.reclaim(limit=2) for _ in range(4)] == [2, 2, 2, 0]

    # I expect the order in which they came
    taken = [d.id for _ in range(6) for d in await queue.reserve(1, 30)]
    assert taken == [e.id for e in first + second]


async def test_settling_nothing_is_no_error(queue: Queue) -> None:
    for settle in SETTLEMENTS.values():
        assert await settle(queue, []) == []


async def test_places_are_told(queue: Queue) -> None:
    message = entry()
    await queue.enqueue([message])
    held = await queue.reserve(1, 30)
    await queue.retry_later([(held[0], 5)])

    [peeked] = await queue.peek([message.id])

    assert peeked is not None
    assert peeked.place is Place.DELAYED
