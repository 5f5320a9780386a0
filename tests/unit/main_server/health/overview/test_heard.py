"""What is heard of the processes: counted once, by the time that each says has passed."""

import pytest

from gatepost.wire.vitals import MOST_BYTES, encode_vitals
from main_server.health.overview import heard as module
from main_server.health.overview.heard import FORGOTTEN_SECONDS, Counted, Heard
from tests.factories import vitals_of


class Time:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def say(heard: Heard, number: int = 1, **given: object) -> None:
    heard.hear(encode_vitals(vitals_of(number, **given)))


def accepted(**by_domain: int) -> dict[str, dict[str, int]]:
    return {"accepted": dict(by_domain)}


def test_several_processes_are_added_up_each_by_its_own_time() -> None:
    heard = Heard()
    say(heard, 1, up_ms=1_000, totals=accepted(a=100))
    say(heard, 2, up_ms=5_000, totals=accepted(a=7))
    assert heard.take() == {}, "what was before they were heard is not of now"
    say(heard, 1, up_ms=3_000, totals=accepted(a=120, b=4))
    say(heard, 2, up_ms=6_000, totals=accepted(a=8))
    assert heard.take() == {
        ("accepted", "a"): Counted(21, 11.0),
        ("accepted", "b"): Counted(4, 2.0),
    }
    assert heard.take() == {}, "and it is counted once"


def test_what_was_done_in_silence_comes_as_its_average() -> None:
    heard = Heard()
    say(heard, up_ms=0, totals=accepted(a=0))
    heard.take()
    say(heard, up_ms=60_000, totals=accepted(a=600))
    assert heard.take() == {("accepted", "a"): Counted(600, 10.0)}


def test_a_process_that_begins_anew_is_another() -> None:
    heard = Heard()
    say(heard, 1, totals=accepted(a=100))
    say(heard, 2, up_ms=10, totals=accepted(a=0))
    say(heard, 2, up_ms=1_010, totals=accepted(a=5))
    assert heard.take() == {("accepted", "a"): Counted(5, 5.0)}


def test_who_leaves_is_gone_and_who_is_silent_is_shown_for_a_while() -> None:
    time = Time()
    heard = Heard(time)
    say(heard, 1)
    say(heard, 2)
    say(heard, 2, leaving=True)
    time.now += 10
    assert [(one.pid, silent) for one, silent in heard.processes()] == [(1, 10.0)]
    time.now += FORGOTTEN_SECONDS
    assert heard.processes() == []


@pytest.mark.parametrize("noise", [b"", b"{}", b"\xff", b"[1]", b" " * (MOST_BYTES + 1)])
def test_what_is_not_to_be_believed_is_passed_over(noise: bytes) -> None:
    heard = Heard()
    heard.hear(noise)
    assert heard.processes() == []


def test_no_more_processes_are_known_than_there_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_PROCESSES", 2)
    heard = Heard()
    for number in range(5):
        say(heard, number)
    assert len(heard.processes()) == 2
