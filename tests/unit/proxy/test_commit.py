"""The commit in two stores: what a sender is told follows from what is safe, in whatever order the
stores answer (I1)."""

import asyncio
import itertools
from typing import Any

import pytest

from gatepost.errors import OutcomeUnknown, Unavailable
from gatepost.wire.contract import Registered, RegisterResult
from proxy.commit import SECOND_STORE_SECONDS, Durability, State, verdict
from tests.heard import settled
from tests.unit.proxy.stores import REFUSED, REGISTERED, UNKNOWN, Stores, answer, bare_envelope

FULL, QUEUE, LEDGER = Durability.FULL, Durability.QUEUE, Durability.LEDGER
SKIPPED = "skipped"
ENDS = ("committed", "refused", "unknown", SKIPPED)

VERDICTS: dict[tuple[str, str], Any] = {
    ("committed", "committed"): FULL,
    ("committed", "refused"): QUEUE,
    ("committed", "unknown"): QUEUE,
    ("committed", SKIPPED): QUEUE,
    ("refused", "committed"): LEDGER,
    ("unknown", "committed"): LEDGER,
    (SKIPPED, "committed"): LEDGER,
    ("refused", "refused"): Unavailable,
    ("refused", SKIPPED): Unavailable,
    (SKIPPED, "refused"): Unavailable,
    (SKIPPED, SKIPPED): Unavailable,
    ("unknown", "refused"): OutcomeUnknown,
    ("unknown", "unknown"): OutcomeUnknown,
    ("unknown", SKIPPED): OutcomeUnknown,
    ("refused", "unknown"): OutcomeUnknown,
    (SKIPPED, "unknown"): OutcomeUnknown,
}


def test_the_table_is_complete() -> None:
    assert set(VERDICTS) == set(itertools.product(ENDS, ENDS))


@pytest.mark.parametrize("queue_first", [True, False], ids=["queue first", "ledger first"])
@pytest.mark.parametrize(("ends", "expected"), VERDICTS.items(), ids=str)
async def test_what_a_sender_is_told(
    ends: tuple[str, str], expected: Any, queue_first: bool
) -> None:
    stores, (queue_end, ledger_end) = Stores(), ends
    stores.queue.skip() if queue_end == SKIPPED else None
    stores.ledger.skip() if ledger_end == SKIPPED else None
    post = await stores.post()

    answers = [(stores.queue, queue_end, None), (stores.ledger, ledger_end, REGISTERED)]
    for store, end, good in answers if queue_first else answers[::-1]:
        if end != SKIPPED:
            store.answer({"committed": good, "refused": REFUSED, "unknown": UNKNOWN}[end])
        await settled()
    for exposing in stores.queue.exposing:
        assert not post.done()
        answer(exposing, True)

    if isinstance(expected, Durability):
        assert await post is expected
    else:
        with pytest.raises(expected):
            await post


@pytest.mark.parametrize(("ends", "expected"), VERDICTS.items(), ids=str)
def test_the_verdict_alone_says_the_same(ends: tuple[str, str], expected: Any) -> None:
    states = {"committed": State.COMMITTED, "refused": State.REFUSED, "unknown": State.UNKNOWN}
    queue, ledger = (states[end if end != SKIPPED else "refused"] for end in ends)
    if isinstance(expected, Durability):
        assert verdict(queue, ledger) is expected
    else:
        with pytest.raises(expected):
            verdict(queue, ledger)


async def test_no_answer_before_a_store_has_committed() -> None:
    stores = Stores()
    post = await stores.post()
    stores.queue.answer(UNKNOWN)
    await asyncio.sleep(2 * SECOND_STORE_SECONDS)
    assert not post.done()
    stores.ledger.answer(REGISTERED)
    assert await post is LEDGER


@pytest.mark.parametrize("first", ["queue", "ledger"])
async def test_the_second_store_has_a_tenth_of_a_second(first: str) -> None:
    stores, loop = Stores(), asyncio.get_running_loop()
    post = await stores.post()
    started = loop.time()
    if first == "queue":
        stores.queue.answer(None)
        while not stores.queue.exposing:
            assert not post.done()
            await asyncio.sleep(0.001)
        answer(stores.queue.exposing[0], True)
    else:
        stores.ledger.answer(REGISTERED)
    assert await post is (QUEUE if first == "queue" else LEDGER)
    assert 0.09 < loop.time() - started < 5
    late, on_time = (
        (stores.ledger, stores.queue) if first == "queue" else (stores.queue, stores.ledger)
    )
    assert (late.lates, on_time.lates) == (1, 0)


async def test_a_second_store_within_its_time_makes_it_full() -> None:
    stores = Stores()
    post = await stores.post()
    stores.queue.answer(None)
    await asyncio.sleep(SECOND_STORE_SECONDS / 2)
    assert not post.done()
    stores.ledger.answer(REGISTERED)
    assert await post is FULL
    assert stores.queue.exposing == []


async def test_what_only_redis_has_is_exposed_before_its_202() -> None:
    stores = Stores()
    post = await stores.post()
    stores.queue.answer(None)
    stores.ledger.answer(REFUSED)
    await settled()
    assert len(stores.queue.exposing) == 1
    assert not post.done()
    answer(stores.queue.exposing[0], True)
    assert await post is QUEUE


@pytest.mark.parametrize("late_answer", [REFUSED, UNKNOWN], ids=["refused", "unknown"])
async def test_a_late_ledger_that_fails_does_not_hurry_the_answer(late_answer: Exception) -> None:
    """It fails while the exposing is under way: until that is done, nobody has the message."""
    stores = Stores()
    post = await stores.post()
    stores.queue.answer(None)
    await asyncio.sleep(SECOND_STORE_SECONDS + 0.05)
    assert len(stores.queue.exposing) == 1
    stores.ledger.answer(late_answer)
    await settled()
    assert not post.done()
    answer(stores.queue.exposing[0], True)
    assert await post is QUEUE


async def test_a_late_ledger_that_commits_while_exposing_makes_it_full() -> None:
    stores = Stores()
    post = await stores.post()
    stores.queue.answer(None)
    await asyncio.sleep(SECOND_STORE_SECONDS + 0.05)
    stores.ledger.answer(REGISTERED)
    assert await post is FULL
    answer(stores.queue.exposing[0], UNKNOWN)
    await settled()


NOT_EXPOSED = pytest.mark.parametrize(
    "exposed", [REFUSED, UNKNOWN, False], ids=["refused", "unknown", "not there"]
)


@NOT_EXPOSED
async def test_what_could_not_be_exposed_is_not_promised(exposed: Any) -> None:
    stores = Stores()
    post = await stores.post()
    stores.queue.answer(None)
    stores.ledger.answer(REFUSED)
    await settled()
    answer(stores.queue.exposing[0], exposed)
    with pytest.raises(OutcomeUnknown):
        await post


@NOT_EXPOSED
@pytest.mark.parametrize("ledger", [REGISTERED, REFUSED, UNKNOWN], ids=str)
async def test_what_could_not_be_exposed_waits_for_a_late_ledger_to_say(
    exposed: Any, ledger: Any
) -> None:
    """It may have been delivered meanwhile, and then it is there."""
    stores = Stores()
    post = await stores.post()
    stores.queue.answer(None)
    await asyncio.sleep(SECOND_STORE_SECONDS + 0.05)
    answer(stores.queue.exposing[0], exposed)
    await settled()
    assert not post.done()
    stores.ledger.answer(ledger)
    if ledger is REGISTERED:
        assert await post is LEDGER
    else:
        with pytest.raises(OutcomeUnknown):
            await post
    assert len(stores.queue.exposing) == 1


async def test_what_is_not_offered_to_the_ledger_is_enqueued_exposed() -> None:
    stores = Stores()
    stores.ledger.skip()
    post = await stores.post()
    assert stores.queue.marks == [True]
    stores.queue.answer(None)
    assert await post is QUEUE
    assert stores.queue.exposing == []


async def test_both_skipped_is_refused_at_once_and_asks_nobody() -> None:
    stores = Stores()
    stores.queue.skip()
    stores.ledger.skip()
    with pytest.raises(Unavailable):
        await stores.commit.side_by_side(bare_envelope())
    assert stores.queue.asked == stores.ledger.asked == []
    assert stores.commit.problem


@pytest.mark.parametrize("queue_first", [True, False], ids=["queue first", "ledger first"])
@pytest.mark.parametrize("queue", [None, REFUSED, UNKNOWN], ids=["took it", "refused", "unknown"])
@pytest.mark.parametrize("result", [Registered.EXPIRED, Registered.REFUSED])
async def test_a_message_that_the_ledger_can_not_take_is_promised_by_nobody(
    result: Registered, queue: Any, queue_first: bool
) -> None:
    """And is taken out of the queue, unless it never got there."""
    stores = Stores()
    post = await stores.post()
    if queue_first:
        stores.queue.answer(queue)
        await settled()
    stores.ledger.answer(RegisterResult(result=result, reason="expired"))
    with pytest.raises(Unavailable):
        await post
    if not queue_first:
        assert stores.queue.withdrawn == [], "it could be taken out before it is in"
        stores.queue.answer(queue)
        await settled()
    assert stores.queue.withdrawn == ([] if queue is REFUSED else stores.queue.envelopes)


@pytest.mark.parametrize("result", [Registered.EXPIRED, Registered.REFUSED])
async def test_what_was_promised_before_the_ledger_declined_it_is_not_taken_away(
    result: Registered,
) -> None:
    """It was late, and the sender has its 202: the reconciler will make a row that says why."""
    stores = Stores()
    post = await stores.post()
    stores.queue.answer(None)
    await asyncio.sleep(SECOND_STORE_SECONDS + 0.05)
    answer(stores.queue.exposing[0], True)
    assert await post is QUEUE
    stores.ledger.answer(RegisterResult(result=result, reason="expired"))
    await settled()
    assert stores.queue.withdrawn == []


async def test_a_sender_who_has_gone_disturbs_nobody() -> None:
    stores = Stores()
    post = await stores.post()
    post.cancel()
    await settled()
    stores.queue.answer(None)
    stores.ledger.answer(REFUSED)
    await settled()
    assert post.cancelled()
