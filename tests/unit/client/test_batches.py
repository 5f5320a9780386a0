"""Many messages: in batches, each with its receipt or its error, and none forgotten."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatepost.client import flows
from gatepost.client.answers import Sent
from gatepost.client.batches import MOST, send_many
from gatepost.client.calls import Call
from gatepost.client.errors import (
    Forbidden,
    GatepostError,
    OutcomeUnknown,
    RateLimited,
    Refused,
    Unavailable,
    UnexpectedAnswer,
)
from gatepost.client.messages import Message
from gatepost.client.pace import Pace
from tests.unit.client.gateway import MESSAGE_ID, QUEUED_AT, told_problem

Heard = httpx.Response | GatepostError
Items = list[dict[str, Any]]

ACCEPTED = {"status": 202, "message_id": MESSAGE_ID, "queued_at": QUEUED_AT, "durability": "full"}
POLICY = {"RateLimit-Policy": '"client";q=1000;w=10'}


def refused(status: int, slug: str, **more: Any) -> dict[str, Any]:
    document = told_problem(status, slug).document
    return {"status": status, "problem": document | more}


class Stage:
    """Answers batches with what `answer` says of their items; time passes in pauses alone."""

    def __init__(self, answer: Callable[["Stage", Items], list[dict[str, Any]] | Heard]) -> None:
        self.time = 0.0
        self.batches: list[Items] = []
        self.answer = answer

    def send(self, *messages: Message, retry_for: float = 30.0) -> list[Sent]:
        paces = Pace(lambda: self.time), Pace(lambda: self.time)
        timing = flows.Timing(retry_for, lambda: self.time, lambda: 1.0, *paces)
        flow, heard = send_many(timing, messages), None
        while True:
            try:
                step = flow.send(heard)
            except StopIteration as end:
                return list(end.value)
            heard = self._play(step)

    def _play(self, step: Call | flows.Pause) -> Heard | None:
        if isinstance(step, flows.Pause):
            assert step.seconds < 10_000
            self.time += step.seconds
            return None
        assert step.content is not None
        items = [json.loads(line) for line in step.content.split(b"\n")]
        self.batches.append(items)
        told = self.answer(self, items)
        if not isinstance(told, list):
            return told
        return httpx.Response(200, json={"items": told}, headers=POLICY)

    @property
    def keys(self) -> list[list[str]]:
        return [[item["idempotency_key"] for item in items] for items in self.batches]


def message(key: str, **given: Any) -> Message:
    return Message("+1234567890", "words", idempotency_key=key, **given)


def accept_all(_: Stage, items: Items) -> list[dict[str, Any]]:
    return [ACCEPTED] * len(items)


def test_nothing_is_nothing() -> None:
    assert Stage(accept_all).send() == []


def test_each_has_its_receipt_and_the_key_that_it_was_sent_under() -> None:
    stage = Stage(accept_all)
    sent = stage.send(message("a", priority=9, ttl=5), Message("n", "b"))
    assert [one.error for one in sent] == [None, None]
    assert sent[0].receipt is not None
    assert (sent[0].receipt.message_id, sent[0].receipt.durability) == (MESSAGE_ID, "full")
    assert [one.idempotency_key for one in sent] == stage.keys[0]
    first, second = stage.batches[0]
    assert (first["priority"], first["ttl"], first["idempotency_key"]) == (9, 5, "a")
    assert second["idempotency_key"]
    assert "words" not in repr(sent)


def test_many_go_in_batches_of_a_thousand() -> None:
    stage = Stage(accept_all)
    sent = stage.send(*(message(f"k{number}") for number in range(2 * MOST + 1)))
    assert [len(items) for items in stage.batches] == [MOST, MOST, 1]
    assert [one.idempotency_key for one in sent] == [f"k{n}" for n in range(2 * MOST + 1)]


def test_what_can_never_be_sent_is_said_before_anything_is() -> None:
    stage = Stage(accept_all)
    with pytest.raises(ValueError, match="message 1: an idempotency key"):
        stage.send(message("a"), message("not visible"))
    assert stage.batches == []


def test_what_is_refused_for_what_it_is_touches_no_other() -> None:
    wrong = refused(422, "invalid", errors=[{"pointer": "/ttl", "detail": "odd"}])
    stage = Stage(
        lambda _, items: [wrong if i["idempotency_key"] == "b" else ACCEPTED for i in items]
    )
    sent = stage.send(message("a"), message("b"), message("c"))
    assert [type(one.error) for one in sent] == [type(None), Refused, type(None)]
    error = sent[1].error
    assert error is not None
    assert (error.idempotency_key, error.errors[0].pointer) == ("b", "/ttl")
    assert len(stage.batches) == 1


def test_what_may_be_repeated_is_under_the_same_key_and_in_order() -> None:
    def answer(stage: Stage, items: Items) -> list[dict[str, Any]]:
        again = refused(503, "unavailable", retry_after=1)
        first = len(stage.batches) == 1
        return [again if first and i["idempotency_key"] in "bd" else ACCEPTED for i in items]

    stage = Stage(answer)
    sent = stage.send(*(message(key) for key in "abcd"))
    assert all(one.receipt for one in sent)
    assert stage.keys == [["a", "b", "c", "d"], ["b", "d"]]


@pytest.mark.parametrize(
    ("whole", "kind"),
    [
        (Unavailable("words"), Unavailable),
        (OutcomeUnknown("words"), OutcomeUnknown),
        (httpx.Response(503), OutcomeUnknown),
    ],
)
def test_in_the_end_each_is_told_why_not(whole: Heard, kind: type[GatepostError]) -> None:
    stage = Stage(lambda *_: whole)
    sent = stage.send(message("a"), message("b"))
    assert [one.receipt for one in sent] == [None, None]
    errors = [one.error for one in sent]
    assert all(isinstance(error, (kind, Unavailable)) for error in errors)
    assert [error.idempotency_key for error in errors if error] == ["a", "b"]
    assert 20 < stage.time < 40
    assert len(stage.batches) > 5


def test_a_try_that_may_have_been_accepted_is_not_forgotten() -> None:
    def answer(stage: Stage, _: Items) -> Heard:
        return OutcomeUnknown("lost") if len(stage.batches) == 1 else Unavailable("away")

    (sent,) = Stage(answer).send(message("a"))
    assert isinstance(sent.error, OutcomeUnknown)


def test_tried_once_is_tried_once() -> None:
    stage = Stage(lambda *_: Unavailable("words"))
    (sent,) = stage.send(message("a"), retry_for=0)
    assert isinstance(sent.error, Unavailable)
    assert len(stage.batches) == 1


def test_who_may_not_send_is_told_for_each() -> None:
    stage = Stage(lambda *_: Forbidden("revoked"))
    assert [type(one.error) for one in stage.send(message("a"), message("b"))] == [Forbidden] * 2


def test_a_batch_that_is_too_much_at_once_becomes_smaller() -> None:
    def answer(_: Stage, items: Items) -> list[dict[str, Any]] | Heard:
        return OutcomeUnknown("time-out") if len(items) > 100 else [ACCEPTED] * len(items)

    stage = Stage(answer)
    sent = stage.send(*(message(f"k{n}") for n in range(400)))
    assert all(one.receipt for one in sent)
    assert [len(items) for items in stage.batches][:3] == [400, 200, 100]


def test_batches_grow_again_after_an_outage() -> None:
    def answer(stage: Stage, items: Items) -> list[dict[str, Any]] | Heard:
        return OutcomeUnknown("time-out") if stage.time < 20 else [ACCEPTED] * len(items)

    stage = Stage(answer)
    sent = stage.send(*(message(f"k{n}") for n in range(3000)))
    assert all(one.receipt for one in sent)
    sizes = [len(items) for items in stage.batches]
    assert min(sizes) < 50
    assert max(sizes[-5:]) > 200


@pytest.mark.parametrize(
    "items", [[], [ACCEPTED] * 2, [{"status": 202}], [{"status": 500}], ["x"], [refused(200, "x")]]
)
def test_an_answer_that_makes_no_sense_is_no_receipt(items: list[Any]) -> None:
    (sent,) = Stage(lambda *_: items).send(message("a"))
    assert isinstance(sent.error, UnexpectedAnswer)


class Bucket:
    """The gateway's own: so many a second, so many saved up; whole seconds are what it says."""

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst, self.tokens, self.at = rate, burst, burst, 0.0

    def answer(self, stage: Stage, items: Items) -> list[dict[str, Any]]:
        self.tokens = min(self.burst, self.tokens + (stage.time - self.at) * self.rate)
        self.at = stage.time
        return [self._one() for _ in items]

    def _one(self) -> dict[str, Any]:
        if self.tokens < 1:
            return refused(429, "rate-limited", retry_after=1)
        self.tokens -= 1
        return ACCEPTED


def test_at_its_limit_a_client_goes_at_its_limit() -> None:
    bucket = Bucket(100, 1000)
    stage = Stage(bucket.answer)
    sent = stage.send(*(message(f"k{n}") for n in range(3000)))
    assert all(one.receipt for one in sent)
    assert 20 <= stage.time < 21.5
    assert len(stage.batches) < 40


@given(st.lists(st.sampled_from([202, 422, 429, 503]), min_size=1, max_size=40), st.data())
def test_whatever_is_answered_each_has_a_receipt_or_an_error(
    script: list[int], data: st.DataObject
) -> None:
    def one(status: int) -> dict[str, Any]:
        return ACCEPTED if status == 202 else refused(status, "invalid", retry_after=1)

    def answer(_: Stage, items: Items) -> list[dict[str, Any]]:
        return [one(data.draw(st.sampled_from(script))) for _ in items]

    stage = Stage(answer)
    sent = stage.send(*(message(f"k{n}") for n in range(5)), retry_for=3.0)
    assert [one.idempotency_key for one in sent] == [f"k{n}" for n in range(5)]
    assert all((one.receipt is None) != (one.error is None) for one in sent)


def test_a_rate_of_nothing_is_given_up() -> None:
    never = refused(429, "rate-limited", retry_after=3600)
    stage = Stage(lambda _, items: [never] * len(items))
    (sent,) = stage.send(message("a"))
    assert isinstance(sent.error, RateLimited)
    assert stage.time < 40
