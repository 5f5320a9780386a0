"""The flows by themselves, with a clock that only moves when a flow pauses."""

from collections.abc import Callable

import httpx
import pytest

from gatepost.client import flows
from gatepost.client.answers import MessageStatus
from gatepost.client.calls import Call, whoami_call
from gatepost.client.errors import GatepostError, RateLimited, StillWaiting, Unavailable
from gatepost.client.pace import Pace
from tests.unit.client.gateway import MESSAGE_ID, told_status

Answer = Callable[[float], httpx.Response | GatepostError]


class Stage:
    """Plays both sides of a flow: answers its calls by the time, and passes its pauses."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.time = 1000.0
        self.calls: list[float] = []
        self.pace = Pace(lambda: self.time)
        self.asking = Pace(lambda: self.time)
        self.seen: list[MessageStatus] = []

    def timing(self, retry_for: float = 30.0) -> flows.Timing:
        return flows.Timing(
            retry_for, now=lambda: self.time, jitter=lambda: 1.0, pace=self.pace, asking=self.asking
        )

    def play(self, flow: flows.Flow[flows.T] | flows.Watch) -> object:
        heard: flows.Heard = None
        while True:
            try:
                step = flow.send(heard)
            except StopIteration as end:
                return end.value
            heard = None
            if isinstance(step, Call):
                self.calls.append(self.time - 1000.0)
                heard = self.answer(self.time - 1000.0)
            elif isinstance(step, flows.Pause):
                self.time += step.seconds
            else:
                self.seen.append(step)


def response(status: str) -> httpx.Response:
    return httpx.Response(200, json=told_status(status).document)


def unavailable_until(moment: float) -> Answer:
    return lambda time: httpx.Response(200) if time >= moment else Unavailable("words")


def test_a_call_is_repeated_with_growing_pauses_until_it_succeeds() -> None:
    stage = Stage(unavailable_until(3.0))
    stage.play(flows.exchange(whoami_call(), stage.timing(), 30.0))
    assert stage.calls == pytest.approx([0, 0.2, 0.6, 1.4, 3.0])


def test_a_call_is_given_up_when_time_is_over_and_not_later() -> None:
    stage = Stage(unavailable_until(1e9))
    with pytest.raises(Unavailable):
        stage.play(flows.exchange(whoami_call(), stage.timing(), 30.0))
    assert 20 < stage.calls[-1] < 30
    assert stage.time - 1000 < 30


def test_a_call_is_made_once_when_there_is_no_time_to_repeat_it() -> None:
    stage = Stage(unavailable_until(1e9))
    with pytest.raises(Unavailable):
        stage.play(flows.exchange(whoami_call(), stage.timing(), 0.0))
    assert stage.calls == [0.0]


def test_watching_looks_often_at_first_and_seldom_later() -> None:
    stage = Stage(lambda time: response("delivered" if time >= 60 else "queued"))
    stage.play(flows.watch(stage.timing(), MESSAGE_ID, float("inf")))
    assert [status.status for status in stage.seen] == ["queued", "delivered"]
    assert stage.calls[1] == pytest.approx(0.02)
    assert 20 < len(stage.calls) < 80
    assert stage.calls[-1] < 62.1


def test_watching_takes_a_last_look_when_time_is_over() -> None:
    stage = Stage(lambda _: response("queued"))
    with pytest.raises(StillWaiting) as caught:
        stage.play(flows.watch(stage.timing(), MESSAGE_ID, 7.0))
    assert stage.calls[-1] == pytest.approx(7.0)
    assert caught.value.latest.status == "queued"


def test_an_outage_outlasts_a_watch_no_longer_than_its_time() -> None:
    stage = Stage(unavailable_until(1e9))
    with pytest.raises(Unavailable):
        stage.play(flows.watch(stage.timing(), MESSAGE_ID, 5.0))
    assert stage.time - 1000 <= 5.0


def test_at_its_limit_a_call_comes_back_in_its_turn_and_not_a_second_later() -> None:
    """Retry-After is in whole seconds; the rate that is told beside it says more."""
    refused = RateLimited("words", retry_after=1.0)
    refused.interval = 0.01
    stage = Stage(lambda time: httpx.Response(200) if time >= 0.015 else refused)
    for _ in range(3):
        stage.play(flows.exchange(whoami_call(), stage.timing(), 30.0))
    assert stage.calls == pytest.approx([0, 0.01, 0.02, 0.03, 0.04])


def test_where_others_use_up_the_rate_pauses_grow() -> None:
    refused = RateLimited("words", retry_after=1.0)
    refused.interval = 0.01
    stage = Stage(lambda _: refused)
    with pytest.raises(RateLimited):
        stage.play(flows.exchange(whoami_call(), stage.timing(), 30.0))
    assert 5 < len(stage.calls) < 20
    assert stage.time - 1000 <= 30


def test_who_sends_at_the_limit_asks_without_waiting() -> None:
    refused = RateLimited("words", retry_after=1.0)
    refused.interval = 1.0
    stage = Stage(lambda _: httpx.Response(200))
    stage.pace.refused(refused)
    stage.play(flows.exchange(whoami_call(), stage.timing(), 30.0))
    assert stage.calls == [0.0]
