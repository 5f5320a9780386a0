"""Ledger → queue: what waits by the ledger and the queue doesn't know is enqueued again, as it was;
nothing else is (3.10)."""

import asyncio
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from gatepost.clock import from_ms, to_ms
from gatepost.queue import Place, Queue, Queues
from gatepost.wire.content import decode_content
from gatepost.wire.envelope import Envelope
from main_server.messages.reconcile.to_queue import OVERDUE_MS, ToQueue
from main_server.store.tables import STATUSES
from tests.factories import BODY, NUMBER, changed
from tests.heard import until
from tests.integration.main_server.messages.reconcile.conftest import AHEAD_MS, Odds, opened


async def sweep(to_queue: ToQueue) -> int:
    """From where it is to the end; how many were enqueued again."""
    total, at_end = 0, False
    while not at_end:
        enqueued, at_end = await to_queue.step()
        total += enqueued
    return total


async def test_what_the_queue_has_lost_comes_back_as_its_row_says(odds: Odds) -> None:
    said = {"priority": 8, "ordering_mac": b"o" * 32}
    (lost,) = odds.registered(1, client_timestamp=1_760_000_000_123, **said)
    later = to_ms(from_ms(lost.queued_at)) + 1_000
    odds.room.force(lost.message_id, due_at=from_ms(later), attempt_count=3, generation=2)
    assert await sweep(odds.to_queue()) == 1

    (peeked,) = await odds.queue.peek([lost.message_id.bytes])
    assert peeked is not None
    assert (peeked.priority, peeked.attempts, peeked.generation) == (8, 3, 2)
    assert peeked.expires_at == lost.expires_at
    (payload,) = await odds.queue.payloads([lost.message_id.bytes])
    assert payload is not None
    envelope, content = opened(odds.room, payload)
    again = {"request_id", "traceparent", "sealed"}
    for name in Envelope.__struct_fields__:
        if name not in again:
            assert getattr(envelope, name) == getattr(lost, name), name
    assert decode_content(content).message_body == BODY
    assert decode_content(content).sender_number == NUMBER
    assert BODY.encode() not in payload


async def test_a_step_looks_at_so_many_rows_whether_they_are_overdue_or_not(
    odds: Odds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("main_server.messages.reconcile.to_queue.BATCH", 10)
    for waiting in odds.registered(35):
        odds.room.force(waiting.message_id, due_at=from_ms(waiting.queued_at + 3_600_000))
    to_queue = odds.to_queue()
    assert [await to_queue.step() for _ in range(4)] == [(0, False)] * 3 + [(0, True)]


async def test_what_is_due_later_waits_until_then(odds: Odds) -> None:
    """By the queue's clock: the reconciler's may be another."""
    (lost,) = odds.registered(1)
    due = lost.queued_at + AHEAD_MS - OVERDUE_MS - 500
    odds.room.force(lost.message_id, due_at=from_ms(due))
    assert await sweep(odds.to_queue()) == 1
    (peeked,) = await odds.queue.peek([lost.message_id.bytes])
    assert peeked is not None
    assert (peeked.place, peeked.due_at) == (Place.DELAYED, due)


async def test_lines_come_back_in_their_order(odds: Odds) -> None:
    first, *others = odds.registered(4, ordering_mac=b"o" * 32)
    assert await sweep(odds.to_queue()) == 4
    (delivery,) = await odds.queue.reserve(10, 30)
    assert delivery.id == first.message_id.bytes
    for one in others:
        assert await odds.queue.acknowledge([delivery]) == [True]
        (delivery,) = await odds.queue.reserve(10, 30)
        assert delivery.id == one.message_id.bytes


async def test_what_came_from_a_proxy_whose_clock_is_ahead_comes_back_as_soon(odds: Odds) -> None:
    """It is overdue by the ledger's clock; by its proxy's it would be in an hour."""
    now = odds.room.clock.now_ms()
    odds.registered(1, queued_at=now + 3_600_000, expires_at=now + 7_200_000)
    assert await sweep(odds.to_queue()) == 1


async def test_what_is_not_overdue_is_left_to_whoever_is_enqueueing_it(odds: Odds) -> None:
    (fresh,) = odds.registered(1)
    odds.room.force(fresh.message_id, due_at=from_ms(fresh.queued_at + AHEAD_MS))
    assert await sweep(odds.to_queue()) == 0


@pytest.mark.parametrize("status", [status for status in STATUSES if status != "queued"])
async def test_what_has_ended_stays_away(odds: Odds, status: str) -> None:
    ended = odds.registered(3)
    for one in ended:
        odds.room.force(one.message_id, status=status)
    assert await sweep(odds.to_queue()) == 0
    assert await odds.waiting(ended) == set()


async def test_what_the_queue_has_in_whatever_place_is_not_doubled(odds: Odds) -> None:
    known = odds.registered(4)
    await odds.enqueued(*known)
    leased, delayed, *_ready = await odds.queue.reserve(2, 30)
    await odds.queue.retry_later([(delayed, 60.0)])
    assert await sweep(odds.to_queue()) == 0
    stats = await odds.queue.stats()
    assert (stats.waiting, stats.leased, stats.delayed) == (4, 1, 1)
    assert await odds.queue.acknowledge([leased]) == [True]


async def test_each_queue_gets_its_own_back(odds: Odds) -> None:
    ours = odds.registered(3)
    theirs = odds.registered(2, queue="b.example:messages")
    assert await sweep(odds.to_queue()) == 5
    assert len(await odds.waiting(ours)) == 3
    other = odds.queues.named("b.example:messages")
    assert await other.missing([one.message_id.bytes for one in theirs]) == []
    assert (await odds.queue.stats()).waiting == 3


class Between:
    """A queue in which something happens after it was asked what it misses."""

    def __init__(self, queue: Queue, then: Callable[[], None]) -> None:
        self._queue, self._then = queue, then

    async def missing(self, ids: list[bytes]) -> list[bytes]:
        missing = await self._queue.missing(ids)
        self._then()
        return missing

    def __getattr__(self, name: str) -> Any:
        return getattr(self._queue, name)


class BetweenQueues:
    def __init__(self, queues: Queues, then: Callable[[], None]) -> None:
        self._queues, self._then = queues, then

    def named(self, name: str | None) -> Any:
        return Between(self._queues.named(name), self._then)


@pytest.mark.parametrize("how", ["delivered", "failed", "duplicate", "erased"])
async def test_what_is_settled_meanwhile_does_not_come_back(odds: Odds, how: str) -> None:
    """It was listed as waiting, then it ended and left the queue, which was then asked: without the
    second read of its row it would be enqueued once more."""
    ended, lost = odds.registered(2)

    def settle() -> None:
        odds.room.force(ended.message_id, status=how)

    assert await sweep(odds.to_queue(BetweenQueues(odds.queues, settle))) == 1
    assert await odds.waiting([ended, lost]) == {lost.message_id}


async def test_what_can_not_be_opened_is_failed_and_holds_nothing_up(odds: Odds) -> None:
    rows = odds.registered(9)
    bad = rows[4]
    odds.room.force(bad.message_id, encrypted_body=b"\0" * 60)
    assert await sweep(odds.to_queue()) == 8
    assert odds.room.status(bad.message_id)[:2] == ("failed", "unreadable")
    others = {one.message_id for one in rows} - {bad.message_id}
    assert await odds.waiting(rows) == others


async def test_a_step_is_bounded_and_the_next_goes_on_from_there(
    odds: Odds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("main_server.messages.reconcile.to_queue.BATCH", 10)
    rows, to_queue = odds.registered(35), odds.to_queue()
    ids = [one.message_id for one in rows]
    steps = []
    for _ in range(4):
        enqueued, at_end = await to_queue.step()
        steps.append((enqueued, at_end))
        assert await odds.waiting(rows) == set(ids[: sum(count for count, _ in steps)])
    assert steps == [(10, False), (10, False), (10, False), (5, True)]

    await odds.queue.remove([ids[2].bytes, ids[33].bytes])
    assert await sweep(to_queue) == 2
    assert await odds.waiting(rows) == set(ids)


async def test_to_start_over_is_to_begin_with_the_oldest(
    odds: Odds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("main_server.messages.reconcile.to_queue.BATCH", 10)
    rows, to_queue = odds.registered(25), odds.to_queue()
    await to_queue.step()
    await odds.redis.flushall()
    to_queue.start_over()
    await to_queue.step()
    assert await odds.waiting(rows) == {one.message_id for one in rows[:10]}


async def test_two_main_servers_at_once_do_it_once(odds: Odds) -> None:
    """Should both believe that they lead: the queue takes each id once."""
    rows = odds.registered(300)
    counts = await asyncio.gather(*(sweep(odds.to_queue()) for _ in range(4)))
    assert min(counts) >= 0
    assert (await odds.queue.stats()).waiting == 300
    ids: list[UUID] = []
    while batch := await odds.queue.reserve(100, 30):
        ids += [UUID(bytes=one.id) for one in batch]
    assert sorted(ids) == [one.message_id for one in rows]


async def test_a_lost_message_that_has_expired_still_ends(odds: Odds) -> None:
    """I5: it goes the way of all that expire, by the queue, and ends in the ledger."""
    fresh = odds.room.envelope()
    lost = changed(fresh, expires_at=fresh.queued_at + 1)
    odds.room.register(fresh)
    odds.room.force(lost.message_id, expires_at=from_ms(lost.expires_at))
    assert await sweep(odds.to_queue()) == 1
    expired = await odds.queue.expire(10, 30)
    assert [one.id for one in expired] == [lost.message_id.bytes]
    odds.room.deliver(lost, send=False)
    assert odds.room.status(lost.message_id)[:2] == ("failed", "expired")


async def work(odds: Odds, done: asyncio.Event) -> None:
    while not done.is_set():
        if not await odds.deliver_some(20):
            await asyncio.sleep(0.01)


async def reconcile(odds: Odds, done: asyncio.Event) -> None:
    to_queue = odds.to_queue()
    while not done.is_set():
        await to_queue.step()
        await asyncio.sleep(0)


async def test_settlements_wipes_and_reconcilers_at_once_lose_and_double_nothing(
    odds: Odds,
) -> None:
    """The race itself, for a while: workers settle, Redis is wiped, reconcilers fill it again."""
    rows, done = odds.registered(600), asyncio.Event()
    await odds.enqueued(*rows)
    async with asyncio.TaskGroup() as group:
        for loop in (work, work, reconcile, reconcile):
            group.create_task(loop(odds, done))
        for _ in range(8):
            await asyncio.sleep(0.1)
            await odds.redis.flushall()
        await until(lambda: odds.states(rows) == {("delivered", None)}, 60)
        done.set()
    assert odds.room.count_rows() == 600
    await odds.redis.flushall()
    assert await sweep(odds.to_queue()) == 0
