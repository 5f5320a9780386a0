"""What becomes of a delivery: every result, at every number of attempts."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatepost.queue import Reason
from gatepost.wire.contract import DeliverResult, Result
from tests.factories import ids
from worker.policy import Decision, Outcome, decide, retry_delay
from worker.settings import Pool

POOL = Pool(retry_interval=30, max_attempts=5)


def result(kind: Result, **given: Any) -> DeliverResult:
    return DeliverResult(message_id=ids.new(), result=kind, **given)


@pytest.mark.parametrize(
    "kind", [Result.DELIVERED, Result.ALREADY, Result.DUPLICATE, Result.ERASED]
)
@pytest.mark.parametrize("attempts", [1, 5, 10_000])
def test_what_the_ledger_has_ended_is_done(kind: Result, attempts: int) -> None:
    assert decide(result(kind), attempts, POOL) == Decision(Outcome.ACKNOWLEDGE)


def test_what_has_expired_is_dead_and_the_ledger_knows_it() -> None:
    decision = decide(result(Result.EXPIRED), 1, POOL)
    assert decision == Decision(Outcome.DEAD_LETTER, Reason.EXPIRED, in_ledger=True)


def test_what_is_held_goes_back_and_the_ledger_is_told_nothing() -> None:
    assert decide(result(Result.HELD), 10_000, POOL) == Decision(Outcome.GIVE_BACK)


@pytest.mark.parametrize(
    ("reason", "dead"),
    [
        ("unreadable", Reason.UNREADABLE),
        ("discarded", Reason.DISCARDED),
        ("key_conflict", Reason.KEY_CONFLICT),
        ("anything", Reason.REFUSED),
        (None, Reason.REFUSED),
    ],
)
def test_what_is_refused_for_good_is_dead_after_the_ledger_was_told(
    reason: str | None, dead: Reason
) -> None:
    decision = decide(result(Result.REFUSED, reason=reason), 1, POOL)
    assert decision == Decision(Outcome.DEAD_LETTER, dead, in_ledger=False)


@pytest.mark.parametrize("attempts", [1, 2, 4])
def test_what_is_refused_for_now_waits_until_its_attempts_are_used(attempts: int) -> None:
    refused = result(Result.REFUSED, reason="unstorable", retryable=True)
    decision = decide(refused, attempts, POOL)
    assert decision == Decision(Outcome.RETRY_LATER, in_ledger=False, delay=30.0)


@pytest.mark.parametrize("attempts", [5, 6, 10_000])
def test_then_it_is_dead(attempts: int) -> None:
    refused = result(Result.REFUSED, reason="unstorable", retryable=True)
    decision = decide(refused, attempts, POOL)
    assert decision == Decision(Outcome.DEAD_LETTER, Reason.ATTEMPTS_USED, in_ledger=False)


def test_the_designs_defaults() -> None:
    pool = Pool()
    assert (pool.concurrency, pool.retry, pool.retry_interval, pool.max_attempts) == (
        4,
        "fixed",
        30.0,
        10_000,
    )


@given(attempts=st.integers(1, 10_000))
def test_a_fixed_delay_is_fixed(attempts: int) -> None:
    assert retry_delay(attempts, POOL) == 30.0


@given(attempts=st.integers(1, 10_000))
def test_an_exponential_one_doubles_up_to_its_longest_with_jitter(attempts: int) -> None:
    pool = Pool(retry="exponential", retry_interval=2, retry_longest=600)
    whole = min(2 * 2.0 ** (attempts - 1), 600) if attempts < 20 else 600
    assert whole / 2 <= retry_delay(attempts, pool) <= whole


def test_jitter_parts_those_that_failed_together() -> None:
    pool = Pool(retry="exponential")
    assert len({retry_delay(3, pool) for _ in range(100)}) > 50
