"""What a sender says of when: each value bounded, the times held against the message's own."""

import json
from typing import Any

import pytest

from gatepost.clock import iso
from gatepost.errors import Invalid
from proxy.admission import Submission, admit
from proxy.keyed import make_key, ordering_mac
from proxy.schedule import Schedule, times
from proxy.settings import Validation
from tests.factories import BODY, NUMBER, identity

NOW = 1_760_000_000_000
HOUR = 3_600_000
AT = "2026-11-19T12:00:00Z"


def admitted(**given: Any) -> Submission:
    document = {"sender_number": NUMBER, "message_body": BODY} | given
    return admit(json.dumps(document).encode(), identity(), Validation())


def refused(**given: Any) -> list[str]:
    with pytest.raises(Invalid) as caught:
        admitted(**given)
    return [error.pointer for error in caught.value.errors]


def test_nothing_said_is_nothing_meant() -> None:
    assert admitted().schedule == Schedule()
    assert times(Schedule(), NOW, HOUR) == (None, NOW + HOUR)


def test_all_of_it_is_read() -> None:
    said = admitted(priority=9, expires_at=AT, due_at="2026-11-19T12:00:00+01:00", ordering_key="k")
    noon = 1_795_089_600_000
    assert said.schedule == Schedule(9, None, noon, noon - HOUR, "k")
    assert admitted(ttl=60).schedule.ttl == 60
    assert "k" not in repr(said)


@pytest.mark.parametrize("value", [0, 11, -1, 5.0, "5", True, None, [], 10**400])
def test_a_priority_is_a_whole_number_from_1_to_10(value: object) -> None:
    assert refused(priority=value) == ["/priority"]


@pytest.mark.parametrize("value", [0, -1, 1.5, "60", True, None])
def test_a_ttl_is_a_whole_number_of_seconds(value: object) -> None:
    assert refused(ttl=value) == ["/ttl"]


@pytest.mark.parametrize("name", ["expires_at", "due_at"])
@pytest.mark.parametrize("value", ["2026-11-19", "2026-11-19T12:00:00", "soon", 5, None, AT + "\n"])
def test_a_time_is_iso_8601_with_a_zone(name: str, value: object) -> None:
    assert refused(**{name: value}) == [f"/{name}"]


@pytest.mark.parametrize("value", ["", "x" * 129, 5, None])
def test_an_ordering_key_is_a_string_of_1_to_128_characters(value: object) -> None:
    assert refused(ordering_key=value) == ["/ordering_key"]


def test_one_way_to_say_when_it_expires() -> None:
    assert refused(ttl=60, expires_at=AT) == ["/expires_at"]


def test_every_mistake_is_told_at_once() -> None:
    found = refused(priority=0, ttl=0, due_at="soon", ordering_key="", message_body=" ")
    assert found == ["/message_body", "/priority", "/ttl", "/due_at", "/ordering_key"]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (Schedule(ttl=60), (None, NOW + 60_000)),
        (Schedule(ttl=3600), (None, NOW + HOUR)),
        (Schedule(expires_at=NOW + 1), (None, NOW + 1)),
        (Schedule(due_at=NOW + 5), (NOW + 5, NOW + HOUR)),
        (Schedule(due_at=NOW - HOUR), (None, NOW + HOUR)),  # it is due, as it is when repeated
        (Schedule(due_at=NOW + 59_999, ttl=60), (NOW + 59_999, NOW + 60_000)),
    ],
)
def test_times_are_held_against_that_of_the_message(
    said: Schedule, meant: tuple[int | None, int]
) -> None:
    assert times(said, NOW, HOUR) == meant


@pytest.mark.parametrize(
    ("said", "pointer"),
    [
        (Schedule(ttl=3601), "/ttl"),
        (Schedule(ttl=10**400), "/ttl"),
        (Schedule(expires_at=NOW), "/expires_at"),
        (Schedule(expires_at=NOW + HOUR + 1), "/expires_at"),
        (Schedule(due_at=NOW + HOUR), "/due_at"),
        (Schedule(due_at=NOW + 60_000, ttl=60), "/due_at"),
    ],
)
def test_times_that_do_not_fit_are_refused(said: Schedule, pointer: str) -> None:
    with pytest.raises(Invalid) as caught:
        times(said, NOW, HOUR)
    assert [error.pointer for error in caught.value.errors] == [pointer]
    assert iso(NOW)[:4] not in caught.value.errors[0].detail


def payload_mac(schedule: Schedule) -> bytes:
    return make_key(b"m" * 32, "c", "key", Submission(NUMBER, BODY, None, schedule)).payload_mac


def test_under_one_key_all_of_it_is_the_same() -> None:
    schedules = [
        Schedule(),
        Schedule(priority=6),
        Schedule(ttl=6),
        Schedule(expires_at=6),
        Schedule(due_at=6),
        Schedule(ordering_key="6"),
        Schedule(ordering_key="7"),
    ]
    assert len({payload_mac(one) for one in schedules}) == len(schedules)


def test_what_was_kept_before_there_were_schedules_is_known_again() -> None:
    """Keys are remembered for seven days, over an upgrade."""
    kept = "91844af84c809a98929ff35a678daf3c587f90a70cc6a80a052dfdcd400e70d2"
    assert payload_mac(Schedule(priority=5)).hex() == kept


def test_each_client_has_lines_of_its_own() -> None:
    macs = {ordering_mac(b"m" * 32, client, key) for client in "ab" for key in "xy"}
    assert len(macs) == 4
    assert {len(mac or b"") for mac in macs} == {32}
