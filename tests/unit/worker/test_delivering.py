"""The way of a batch: the ledger first, then the queue; an outage gives all of it back."""

from typing import Any
from uuid import UUID

import httpx
import pytest

from gatepost.config.settings import MainServer
from gatepost.queue import QueueUnavailable, Reason
from gatepost.service.supervisor import GRACE_SECONDS
from gatepost.wire.contract import Result, Settlement
from tests.unit.worker.pool import Worker, delivery
from worker.delivering import BATCH_SECONDS, LEASE_SECONDS
from worker.main_server import Outage

SETTLE = "/internal/messages/settle"


def away(path: str | None = None) -> Any:
    return lambda asked: httpx.Response(503) if path in (None, asked) else None


async def test_each_delivery_ends_as_its_own_result_says() -> None:
    worker = Worker(retry_interval=7, max_attempts=3)
    good, already, expired, refused, later, used = (delivery(n) for n in (1, 1, 1, 1, 2, 3))
    worker.main.answer(already, Result.ALREADY)
    worker.main.answer(expired, Result.EXPIRED)
    worker.main.answer(refused, Result.REFUSED, reason="unreadable")
    worker.main.answer(later, Result.REFUSED, reason="unstorable", retryable=True)
    worker.main.answer(used, Result.REFUSED, reason="unstorable", retryable=True)

    await worker.deliver(good, later, already, used, refused, expired)

    assert worker.queue.done == [good, already]
    assert worker.queue.later == [(later, 7.0)]
    assert worker.queue.dead == [
        (used, Reason.ATTEMPTS_USED),
        (refused, Reason.UNREADABLE),
        (expired, Reason.EXPIRED),
    ]
    told = {one.message_id: one for one in worker.main.settled}
    assert set(told) == {UUID(bytes=one.id) for one in (later, used, refused)}
    assert told[UUID(bytes=later.id)].outcome is Settlement.RETRY
    assert told[UUID(bytes=later.id)].reason == "unstorable"
    assert told[UUID(bytes=used.id)].outcome is Settlement.FAILED
    assert told[UUID(bytes=used.id)].reason == "attempts_used"
    assert told[UUID(bytes=used.id)].attempt == 3
    assert told[UUID(bytes=refused.id)].reason == "unreadable"


async def test_what_was_done_is_counted_by_domain() -> None:
    worker = Worker(max_attempts=3)
    of_a, of_b = (b'{"domain":"a.example"}', b'{"domain":"b.example"}')
    good, also, already, later = (delivery(1, p) for p in (of_a, of_b, of_a, of_a))
    used, strange = delivery(3, of_b), delivery(1, b"\xff")
    worker.main.answer(already, Result.ALREADY)
    for one in (later, used):
        worker.main.answer(one, Result.REFUSED, reason="unstorable", retryable=True)
    worker.main.answer(strange, Result.REFUSED, reason="unreadable")
    await worker.deliver(good, also, already, later, used, strange)
    assert worker.tally.totals == {
        "delivered": {"a.example": 1, "b.example": 1},
        "retried": {"a.example": 1},
        "failed": {"b.example": 1, "": 1},
    }


async def test_a_failure_is_in_the_ledger_before_it_is_in_the_queue() -> None:
    worker, one = Worker(), delivery()
    worker.main.answer(one, Result.REFUSED, reason="refused")
    await worker.deliver(one)
    assert worker.main.settled_at is not None
    assert worker.queue.settled_at is not None
    assert worker.main.settled_at < worker.queue.settled_at


async def test_a_failure_brings_its_envelope_and_a_retry_does_not() -> None:
    """A message that was never registered leaves its row all the same."""
    worker, dead, later = Worker(), delivery(), delivery()
    garbage = delivery(payload=b"\0")
    worker.main.answer(dead, Result.REFUSED)
    worker.main.answer(garbage, Result.SEND_ENVELOPE)
    worker.main.answer(later, Result.REFUSED, retryable=True)
    await worker.deliver(dead, later, garbage)
    envelopes = [bytes(one.envelope) for one in worker.main.settled]
    assert envelopes == [dead.payload, b"", b""]
    assert worker.queue.dead == [(dead, Reason.REFUSED), (garbage, Reason.UNREADABLE)]


@pytest.mark.parametrize("depth", [300, 900, 990, 1_000, 100_000])
@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
async def test_what_is_nested_too_deep_ends_unreadable_and_takes_nobody_along(
    opening: bytes, depth: int
) -> None:
    """By itself it may just be read, and not within the call that it is put into."""
    worker, good = Worker(), delivery()
    closing = b"]" if opening == b"[" else b"}"
    poison = delivery(payload=opening * depth + b"1" + closing * depth)
    worker.main.answer(good, Result.SEND_ENVELOPE, Result.DELIVERED)
    worker.main.answer(poison, Result.SEND_ENVELOPE)
    await worker.deliver(good, poison)
    assert worker.queue.dead == [(poison, Reason.UNREADABLE)]
    assert worker.queue.done == [good]


async def test_a_retry_says_when_it_is_due() -> None:
    worker, one = Worker(retry_interval=30), delivery()
    worker.main.answer(one, Result.REFUSED, retryable=True)
    await worker.deliver(one)
    (told,) = worker.main.settled
    assert told.due_at == told.ended_at + 30_000
    assert told.started_at <= told.ended_at


async def test_an_outage_gives_all_of_it_back_and_settles_nothing() -> None:
    worker, batch = Worker(), [delivery() for _ in range(5)]
    worker.main.fault = away()
    with pytest.raises(Outage):
        await worker.deliver(*batch)
    assert worker.queue.given_back == batch
    assert [*worker.queue.done, *worker.queue.later, *worker.queue.dead] == []


async def test_a_failure_that_the_ledger_could_not_be_told_is_no_failure_yet() -> None:
    worker, good, bad = Worker(), delivery(), delivery()
    worker.main.answer(bad, Result.REFUSED)
    worker.main.fault = away(SETTLE)
    with pytest.raises(Outage):
        await worker.deliver(good, bad)
    assert worker.queue.given_back == [good, bad]
    assert worker.queue.dead == []


async def test_a_retry_needs_no_ledger() -> None:
    worker, good, later = Worker(), delivery(), delivery()
    worker.main.answer(later, Result.REFUSED, retryable=True)
    worker.main.fault = away(SETTLE)
    await worker.deliver(good, later)
    assert worker.queue.done == [good]
    assert worker.queue.later == [(later, 30.0)]


async def test_a_redis_that_breaks_off_leaves_the_rest_to_the_lease() -> None:
    worker = Worker()
    worker.queue.failure = QueueUnavailable()
    with pytest.raises(QueueUnavailable):
        await worker.deliver(delivery())
    worker.main.fault = away()
    with pytest.raises(QueueUnavailable):
        await worker.deliver(delivery())


async def test_each_attempt_is_one_event_that_shows_nothing_of_the_message() -> None:
    worker = Worker()
    one = delivery(payload=b'{"request_id":"r-1","traceparent":"t-1","sealed":"SECRET"}')
    await worker.deliver(one, delivery(payload=b"\0SECRET"))
    first, second = worker.log.of("delivery.attempted")
    assert first["message_id"] == str(UUID(bytes=one.id))
    assert (first["request_id"], first["traceparent"]) == ("r-1", "t-1")
    assert (first["attempt"], first["result"]) == (1, "delivered")
    assert "SECRET" not in str([first, second])


async def test_after_an_outage_the_first_success_closes_the_breaker() -> None:
    worker = Worker()
    worker.breaker.problem = "away"
    await worker.deliver(delivery())
    assert worker.breaker.problem is None


async def test_calls_that_take_too_long_together_are_an_outage(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Given calls that are each quick enough, and a batch that has time for one of them,
    monkeypatch.setattr("worker.delivering.BATCH_SECONDS", 0.1)
    worker, one = Worker(), delivery()
    worker.main.delay = 0.08
    worker.main.answer(one, Result.SEND_ENVELOPE, Result.DELIVERED)

    # when it takes two,
    with pytest.raises(Outage):
        await worker.deliver(one)

    # I expect it to go back while its lease still holds.
    assert worker.queue.given_back == [one]


def test_a_batch_and_its_call_end_before_the_lease_and_the_stop() -> None:
    assert BATCH_SECONDS < GRACE_SECONDS < LEASE_SECONDS
    assert MainServer.model_fields["timeout"].default < LEASE_SECONDS
