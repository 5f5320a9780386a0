"""The words for "why is it late?": each state of ledger and queue has its own, and no other."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatepost.clock import to_ms
from gatepost.queue import Peeked, Place
from main_server.messages.reading.repository import Attempt, Row
from main_server.messages.reading.timeline import Kind, Paused, Step, Told, Whereabouts, tell
from main_server.store.tables import STATUSES

NOW = datetime(2030, 3, 1, 12)
ID = bytes(16)
ROW = Row(
    message_id=ID,
    client_id="example.com:client_001",
    domain="example.com",
    status="queued",
    reason=None,
    created_at=NOW - timedelta(minutes=10),
    queued_at=NOW - timedelta(minutes=10),
    delivered_at=None,
    due_at=NOW - timedelta(minutes=10),
    expires_at=NOW + timedelta(days=3),
    client_timestamp=None,
    attempt_count=0,
    queue="message_queue",
    generation=0,
    duplicate_of=None,
    key_id=1,
)


def later(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def attempt(number: int, outcome: str = "retry", reason: str | None = "unstorable") -> Attempt:
    began = later(-60 + number)
    return Attempt(number, began, began + timedelta(milliseconds=12), outcome, reason)


def at(place: Place, **given: Any) -> Whereabouts:
    return Whereabouts(True, Peeked(ID, place, **given))


def told(row: Row = ROW, attempts: Any = (), where: Whereabouts | None = None) -> Told:
    return tell(row, attempts, where or Whereabouts(True), NOW)


@pytest.mark.parametrize(
    ("row", "where", "words"),
    [
        (ROW, at(Place.LEASED, attempts=3), "delivering it now: attempt 3."),
        (ROW, at(Place.DELAYED, due_at=to_ms(later(18)), attempts=1), "which is due in 18.0 s."),
        (ROW, at(Place.DELAYED, due_at=to_ms(later(-1)), attempts=1), "which is due now."),
        (ROW, at(Place.DELAYED, due_at=to_ms(later(18))), "its sender wants it delivered"),
        (replace(ROW, due_at=later(18)), Whereabouts(True), "It is due in 18.0 s: then a main"),
        (ROW, at(Place.IN_LINE), "behind an earlier message of its ordering key"),
        (ROW, at(Place.READY, enqueued_at=to_ms(later(-90))), "a worker for 1 minute: the workers"),
        (ROW, at(Place.READY, enqueued_at=to_ms(later(-1))), "about to be delivered"),
        (ROW, Whereabouts(False), "The queue does not answer"),
        (ROW, Whereabouts(True), "the queue has lost it"),
        (ROW, at(Place.DEAD), "the queue has lost it"),
        (replace(ROW, due_at=later(-1)), Whereabouts(True), "on its way into the queue"),
        (replace(ROW, expires_at=later(-2)), at(Place.READY), "Its time was over 2.0 s ago"),
        (replace(ROW, generation=2), Whereabouts(True), "It was redriven 2 times."),
    ],
)
def test_what_waits_says_what_it_waits_for(row: Row, where: Whereabouts, words: str) -> None:
    assert words in told(row, where=where).why


def test_what_is_retried_says_how_often_why_and_when_next() -> None:
    row = replace(ROW, attempt_count=2)
    where = at(Place.DELAYED, due_at=to_ms(later(18)), attempts=2)
    said = told(row, [attempt(1), attempt(2, reason="key_unavailable")], where)
    assert said.why == (
        "It waits for its next attempt, which is due in 18.0 s. It was tried 2 times; the last"
        " time, 58.0 s ago, a key that it needs can't be used just now."
    )
    assert [(step.kind, step.what) for step in said.steps] == [
        (Kind.DONE, "Accepted"),
        (Kind.DONE, "Queued"),
        (Kind.TROUBLE, "Attempt 1"),
        (Kind.TROUBLE, "Attempt 2"),
        (Kind.NEXT, "Next attempt"),
    ]
    assert said.steps[2].more == "the ledger could not store it; it took 12 ms"
    assert said.steps[-1].at == later(18)


DELIVERED = replace(ROW, status="delivered", attempt_count=1, delivered_at=later(-599))


@pytest.mark.parametrize(
    ("row", "attempts", "words"),
    [
        (DELIVERED, [], "It was delivered 1.0 s after it was accepted."),
        (replace(DELIVERED, delivered_at=NOW), [], "10 minutes after it was accepted. No attempt"),
        (replace(DELIVERED, due_at=later(-599.5)), [], "It was delivered 500 ms after it was due."),
        (
            replace(DELIVERED, attempt_count=2),
            [attempt(1), attempt(2, "delivered", None)],
            "at attempt 2: the one before could not be finished, as the ledger could not store it.",
        ),
        (replace(ROW, status="failed", reason="expired"), [], "its time was over before"),
        (replace(ROW, status="failed", reason="refused", attempt_count=1), [], "It was tried once"),
        (replace(ROW, status="failed", reason="a_new_one"), [], "not delivered: a new one."),
        (replace(ROW, status="failed"), [], "nobody has written down why"),
        (
            replace(ROW, status="duplicate", duplicate_of=bytes(15) + b"\1"),
            [],
            "see 00000000-0000-0000-0000-000000000001",
        ),
        (replace(ROW, status="erased"), [], "It was erased"),
    ],
)
def test_what_has_ended_says_how(row: Row, attempts: list[Attempt], words: str) -> None:
    assert words in told(row, attempts).why


def test_of_very_many_attempts_the_gap_is_told() -> None:
    numbers = [*range(1, 11), *range(91, 101)]
    said = told(replace(ROW, attempt_count=100), [attempt(n) for n in numbers])
    gap = Step(
        Kind.TROUBLE, None, "Attempts 11 to 90", "of many, only the first and the last are kept"
    )
    assert said.steps.count(gap) == 1
    assert said.steps.index(gap) == 12


def test_an_attempt_that_nobody_wrote_down_is_no_gap() -> None:
    """Reports of retries are best-effort."""
    said = told(replace(ROW, attempt_count=3), [attempt(1), attempt(3)])
    assert not [step for step in said.steps if step.what.startswith("Attempts")]


ANY_ROW = st.builds(
    lambda status, reason, expires, due, **given: replace(
        ROW, status=status, reason=reason, expires_at=later(expires), due_at=later(due), **given
    ),
    status=st.sampled_from(STATUSES),
    reason=st.none() | st.sampled_from(["expired", "refused", "something_else"]),
    expires=st.integers(-100, 100),
    due=st.integers(-100, 100),
    delivered_at=st.none() | st.just(NOW),
    generation=st.integers(0, 3),
    client_timestamp=st.none() | st.just(NOW),
)
ANYWHERE = st.sampled_from([Whereabouts(False), Whereabouts(True), *map(at, Place)])


@given(row=ANY_ROW, where=ANYWHERE, tried=st.lists(st.sampled_from(["retry", "failed"])))
def test_there_is_an_answer_whatever_the_stores_say(
    row: Row, where: Whereabouts, tried: list[str]
) -> None:
    said = told(row, [attempt(n + 1, one) for n, one in enumerate(tried)], where)
    assert said.why.endswith((".", "more."))
    assert said.steps[0].what in ("Sent", "Accepted")
    assert [step.kind for step in said.steps].count(Kind.NEXT) == (row.status == "queued")


@pytest.mark.parametrize(
    ("accepted_by", "words"),
    [
        ("both", "into ledger and queue side by side: durability full, unless"),
        ("queue", "into the queue alone, durability queue; the ledger has it from there"),
        ("ledger", "into the ledger alone, durability ledger: the queue did not answer"),
        (None, "the ledger has it"),
    ],
)
def test_it_is_told_with_what_durability_it_was_accepted(
    accepted_by: str | None, words: str
) -> None:
    step = told(replace(ROW, accepted_by=accepted_by)).steps[0]
    assert step.what == "Accepted"
    assert step.more.startswith(f"from example.com:client_001, {words}")


@pytest.mark.parametrize("place", [Place.READY, Place.DELAYED, Place.IN_LINE])
def test_of_a_paused_queue_it_is_told_since_when(place: Place) -> None:
    paused = Paused(later(-120), " by root at a shell, “a move”")
    why = told(where=replace(at(place), paused=paused)).why
    assert why.startswith("Its queue is paused since 2030-03-01 11:58:00 UTC (2 minutes ago) by ro")
    being = at(Place.LEASED, attempts=1)
    assert "delivering it now" in told(where=replace(being, paused=paused)).why
