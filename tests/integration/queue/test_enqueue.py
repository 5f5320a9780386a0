"""enqueue: in order, each once, and a higher generation takes an earlier one's place."""

from dataclasses import replace

from gatepost.queue import Enqueued, Place, Queue, Reason
from tests.integration.queue.factories import entries, entry
from tests.integration.queue.testclock import TestClock


async def test_messages_come_out_in_the_order_in_which_they_came(queue: Queue) -> None:
    # Given messages that came in two calls
    first, second = entries(3), entries(2)
    await queue.enqueue(first)
    await queue.enqueue(second)

    # When they are reserved
    deliveries = await queue.reserve(10, 30)

    # I expect the same order, and what was given
    assert [d.id for d in deliveries] == [e.id for e in first + second]
    assert [d.payload for d in deliveries] == [e.payload for e in first + second]


async def test_more_messages_than_a_script_is_given_at_once(queue: Queue) -> None:
    # Given more than one piece
    many = entries(1201)

    # When they are enqueued with one call, and reserved
    answers = await queue.enqueue(many)
    deliveries = [d for _ in range(4) for d in await queue.reserve(400, 30)]

    # I expect all of them, in order
    assert answers == [Enqueued.NEW] * 1201
    assert [d.id for d in deliveries] == [e.id for e in many]


async def test_nothing_to_enqueue_is_no_error(queue: Queue) -> None:
    assert await queue.enqueue([]) == []


async def test_an_id_is_enqueued_once_wherever_it_is(queue: Queue, clock: TestClock) -> None:
    # Given a ready, a leased, a delayed message and one in line
    leased, ready, delayed = entry(priority=10), entry(), entry(due_at=clock.now + 5000)
    first, in_line = entries(2, ordering_key=b"k")
    every = [leased, ready, delayed, first, in_line]
    await queue.enqueue(every)
    await queue.reserve(1, 30)
    before = await queue.peek([e.id for e in every])

    # When they come again, with something else in them
    answers = await queue.enqueue([replace(e, payload=b"other", attempts=3) for e in every])

    # I expect each to be there already, and unchanged
    assert answers == [Enqueued.ALREADY_THERE] * 5
    assert await queue.peek([e.id for e in every]) == before
    assert {peeked.place for peeked in before if peeked} == set(Place) - {Place.DEAD}
    assert await queue.payloads([ready.id]) == [ready.payload]


async def test_an_id_twice_in_one_call_is_enqueued_once(queue: Queue) -> None:
    message = entry()

    answers = await queue.enqueue([message, message])

    assert answers == [Enqueued.NEW, Enqueued.ALREADY_THERE]
    assert len(await queue.reserve(10, 30)) == 1


async def test_what_is_settled_is_forgotten(queue: Queue) -> None:
    # Given a message that was delivered
    message = entry()
    await queue.enqueue([message])
    await queue.acknowledge(await queue.reserve(1, 30))

    # When it comes again, I expect it to be new
    assert await queue.enqueue([message]) == [Enqueued.NEW]


async def test_a_dead_message_that_comes_again_is_dead_no_more(queue: Queue) -> None:
    message = entry()
    await queue.enqueue([message])
    [delivery] = await queue.reserve(1, 30)
    await queue.dead_letter([(delivery, Reason.REFUSED)])

    await queue.enqueue([replace(message, generation=1)])

    assert await queue.dead_letters(10) == []
    assert (await queue.stats()).ready[5] == 1


async def test_a_message_keeps_the_attempts_and_the_generation_it_comes_with(queue: Queue) -> None:
    await queue.enqueue([entry(attempts=41, generation=3)])

    [delivery] = await queue.reserve(1, 30)

    assert (delivery.attempts, delivery.generation) == (42, 3)


async def test_a_message_that_is_due_later_is_delayed(queue: Queue, clock: TestClock) -> None:
    # Given a message that is due in 5 s
    later = entry(due_at=clock.now + 5000)
    await queue.enqueue([later])
    assert await queue.reserve(1, 30) == []

    # When 5 s have passed
    await clock.advance(5)
    await queue.release_due()

    # I expect it to be ready
    assert [d.id for d in await queue.reserve(1, 30)] == [later.id]


async def test_a_higher_generation_takes_the_place_of_a_waiting_one(queue: Queue) -> None:
    # Given two messages of generation 0
    old, other = entries(2)
    await queue.enqueue([old, other])

    # When the first comes with generation 1 and another priority
    new = replace(old, generation=1, payload=b"new", priority=3)
    assert await queue.enqueue([new]) == [Enqueued.SUPERSEDED]

    # I expect it once, in its new place
    deliveries = await queue.reserve(10, 30)
    assert [(d.id, d.generation, d.payload) for d in deliveries] == [
        (other.id, 0, other.payload),
        (new.id, 1, b"new"),
    ]


async def test_a_higher_generation_takes_a_leased_one_from_its_holder(queue: Queue) -> None:
    # Given a message of generation 0 that is leased
    old = entry()
    await queue.enqueue([old])
    late = await queue.reserve(1, 30)

    # When it comes with generation 1
    await queue.enqueue([replace(old, generation=1)])

    # I expect the holder to be too late, and the new one to be delivered
    assert await queue.acknowledge(late) == [False]
    [delivery] = await queue.reserve(1, 30)
    assert (delivery.generation, delivery.attempts) == (1, 1)


async def test_a_lower_generation_is_there_already(queue: Queue) -> None:
    message = entry(generation=2)
    await queue.enqueue([message])

    assert await queue.enqueue([replace(message, generation=1)]) == [Enqueued.ALREADY_THERE]
    assert [d.generation for d in await queue.reserve(1, 30)] == [2]
