"""How long others are waited for, by the clock; and who isn't waited for at all."""

from collections.abc import Iterable, Iterator
from typing import cast

import pytest
from sqlalchemy import Engine

from main_server.retention import patience
from main_server.retention.patience import InTheWay, Patience

Look = set[int]
ENGINE = cast(Engine, None)


class Time:
    """Stands in for the module: nobody waits. A look takes a tenth of a second."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    time = Time()
    monkeypatch.setattr(patience, "time", time)
    return time


def seeing(monkeypatch: pytest.MonkeyPatch, time: Time, looks: Iterable[Look]) -> Iterator[Look]:
    """The connections that have a snapshot, look by look."""
    left = iter(looks)

    def look(*_: object) -> dict[tuple[int, str], str]:
        time.sleep(0.1)
        return {(one, "then"): f"somebody (connection {one})" for one in next(left)}

    monkeypatch.setattr(patience, "transact", look)
    return left


def test_one_statement_is_no_snapshot_even_for_who_has_no_patience(
    monkeypatch: pytest.MonkeyPatch, time: Time
) -> None:
    left = seeing(monkeypatch, time, [{1}, set()])
    Patience(0).wait_for_snapshots(ENGINE)
    assert list(left) == []


def test_a_busy_server_keeps_nobody_for_ever(monkeypatch: pytest.MonkeyPatch, time: Time) -> None:
    """Always another transaction, and none that lasts."""
    seeing(monkeypatch, time, ({number} for number in range(1_000)))
    begun = time.now
    Patience(30).wait_for_snapshots(ENGINE)
    assert time.now - begun < 2


@pytest.mark.parametrize("seconds", [0, 30, 1_800])
def test_what_lasts_is_waited_for_as_long_as_was_said(
    monkeypatch: pytest.MonkeyPatch, time: Time, seconds: float
) -> None:
    seeing(monkeypatch, time, ({1} for _ in range(10_000)))
    begun = time.now
    with pytest.raises(InTheWay, match="connection 1"):
        Patience(seconds).wait_for_snapshots(ENGINE)
    assert seconds <= time.now - begun < seconds + 2.5


def test_what_ends_in_time_was_no_obstacle(monkeypatch: pytest.MonkeyPatch, time: Time) -> None:
    left = seeing(monkeypatch, time, [{1}, {1}, {1, 2}, {2}, set()])
    Patience(30).wait_for_snapshots(ENGINE)
    assert list(left) == []


def test_a_run_has_it_once(monkeypatch: pytest.MonkeyPatch, time: Time) -> None:
    """What was spent on snapshots isn't there for locks."""
    whole = Patience(10)
    seeing(monkeypatch, time, [{1}] * 8 + [set()])
    whole.wait_for_snapshots(ENGINE)
    whole.wait(2, "Somebody reads.")
    with pytest.raises(InTheWay, match="Somebody"):
        whole.wait(2, "Somebody reads.")


def test_a_look_is_good_for_a_second(monkeypatch: pytest.MonkeyPatch, time: Time) -> None:
    whole = Patience(10)
    left = seeing(monkeypatch, time, [set(), {1}, set()])
    for _ in range(5):
        whole.wait_for_snapshots(ENGINE)
    time.sleep(2)
    whole.wait_for_snapshots(ENGINE)
    assert list(left) == []
