"""A start goes on whatever becomes of its first message, and says what waits and what is paused."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from infra.dev.first_message import DELIVERED_WITHIN_SECONDS, tell_first_message
from infra.dev.steps import Failure
from infra.dev.waiting import Waiting
from main_server.tenants.pauses.repository import EVERYWHERE, Pause, What

QUEUE = "example.com:messages"


def paused(what: What, name: str) -> Pause:
    since = datetime(2026, 11, 19, 10, 0, tzinfo=UTC)
    return Pause(what.value, name, "the database is being moved", "uid 0", since)


class Sender:
    """Remembers for how long it was to wait; what it does then is given."""

    def __init__(self, does: Callable[[], int]) -> None:
        self._does = does
        self.waited: list[float] = []

    def __call__(self, _status: dict[str, Any], seconds: float) -> int:
        self.waited.append(seconds)
        return self._does()


def not_yet() -> int:
    raise Failure("accepted, and not delivered yet")


def refused() -> int:
    raise Failure("not accepted: 429 full")


def tell(waiting: Waiting, sender: Sender) -> str:
    return tell_first_message({}, lambda _status: waiting, sender)


def test_where_nothing_waits_it_says_how_long_it_took() -> None:
    said = tell(Waiting(own=[QUEUE]), Sender(lambda: 212))
    assert said.endswith(" delivered in 212 ms")


def test_in_a_paused_queue_it_is_not_waited_for_and_that_is_said() -> None:
    sender = Sender(not_yet)
    said = tell(Waiting([paused(What.QUEUE, QUEUE)], [QUEUE], 1_000_000), sender)
    assert sender.waited == [0.0]
    assert "accepted, and not delivered yet" in said
    assert f"Paused: the queue {QUEUE}, since 2026-11-19 10:00 UTC, by uid 0" in said
    assert f"gatepost queue resume {QUEUE}" in said
    assert "1,000,000 messages wait." in said


def test_behind_a_backlog_it_is_given_time_and_what_waits_is_said() -> None:
    sender = Sender(not_yet)
    said = tell(Waiting(own=[QUEUE], messages=70_000), sender)
    assert sender.waited == [DELIVERED_WITHIN_SECONDS]
    assert "70,000 messages wait." in said
    assert "./dev logs worker" in said


@pytest.mark.parametrize(("name", "whose"), [("example.com", "example.com"), (EVERYWHERE, "--all")])
def test_where_intake_is_paused_nothing_is_sent(name: str, whose: str) -> None:
    sender = Sender(refused)
    said = tell(Waiting([paused(What.INTAKE, name)], [QUEUE], 1), sender)
    assert sender.waited == []
    assert "not sent" in said
    assert f"gatepost intake resume {whose}" in said
    assert "1 message waits." in said


def test_what_is_refused_ends_no_start_either() -> None:
    said = tell(Waiting(own=[QUEUE], messages=5_000_000), Sender(refused))
    assert "not accepted: 429 full" in said
    assert "5,000,000 messages wait." in said


def test_what_another_domain_has_paused_is_said_as_well() -> None:
    sender = Sender(lambda: 90)
    said = tell(Waiting([paused(What.QUEUE, "other.example:messages")], [QUEUE], 3), sender)
    assert sender.waited == [DELIVERED_WITHIN_SECONDS]
    assert "delivered in 90 ms" in said
    assert "Paused: the queue other.example:messages" in said


def test_a_store_that_does_not_answer_ends_no_start() -> None:
    def away(_status: dict[str, Any]) -> Waiting:
        raise OperationalError("SELECT 1", {}, Exception("gone"))

    assert "not known" in tell_first_message({}, away, Sender(lambda: 1))
