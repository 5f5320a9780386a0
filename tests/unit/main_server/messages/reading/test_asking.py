"""What an address may say: bounds that are usual, and nothing that a statement would stumble on."""

from datetime import UTC, datetime, timedelta

import pytest

from gatepost.clock import to_ms
from gatepost.errors import Invalid
from gatepost.ids import first_id_at
from main_server.messages.reading.asking import (
    asked_by,
    instant,
    macs_of,
    number_in,
    reason_in,
    span_of,
)
from main_server.messages.reading.scope import Asked
from main_server.people.users.viewer import UserRole, Viewer

NOW = datetime(2030, 3, 1, 12, tzinfo=UTC)
USER = Viewer("01", "ann", UserRole.USER, "one.example")
SUPER = Viewer("02", "eve", UserRole.SUPER_ADMIN, "gatepost")


def id_at(moment: datetime) -> bytes:
    return first_id_at(to_ms(moment))


def test_without_dates_it_is_the_last_thirty_days() -> None:
    span = span_of(None, None, NOW)
    assert span.first < id_at(NOW - timedelta(days=29, hours=23))
    assert span.first > id_at(NOW - timedelta(days=30, hours=1))
    assert span.end > id_at(NOW), "clocks differ a little"


def test_dates_are_taken_as_utc_and_a_page_ends_where_the_last_one_did() -> None:
    day = datetime(2030, 2, 1)
    span = span_of(day, day + timedelta(days=1), NOW)
    assert span.first == id_at(day.replace(tzinfo=UTC))
    before = id_at(day.replace(hour=6, tzinfo=UTC))
    assert span_of(day, day + timedelta(days=1), NOW, before.hex()).end == before
    assert span_of(day, day + timedelta(days=1), NOW, "ff" * 16).end == span.end


@pytest.mark.parametrize(
    ("first", "end"),
    [
        (NOW, NOW),
        (NOW, NOW - timedelta(days=1)),
        (NOW + timedelta(days=1), None),
        (None, datetime(1, 1, 1)),
    ],
)
def test_a_time_that_is_none_is_refused(first: datetime | None, end: datetime | None) -> None:
    with pytest.raises(Invalid):
        span_of(first, end, NOW)


def test_a_time_that_no_id_can_say_is_as_far_as_ids_go() -> None:
    everything = span_of(datetime(1, 1, 1), datetime(9999, 12, 31), NOW)
    assert everything.first < id_at(NOW) < everything.end


@pytest.mark.parametrize("before", ["", "x", "00", "ff" * 17, "é" * 32])
def test_a_page_that_nobody_has_named_is_refused(before: str) -> None:
    with pytest.raises(Invalid):
        span_of(None, None, NOW, before)


def test_a_client_is_meant_by_its_name_too() -> None:
    assert asked_by(USER, "", "a") == Asked(None, "one.example:a")
    assert asked_by(USER, None, "two.example:a") == Asked(None, "two.example:a")
    assert asked_by(SUPER, "two.example", "a") == Asked("two.example", "two.example:a")
    with pytest.raises(Invalid):
        asked_by(SUPER, None, "a")


@pytest.mark.parametrize("text", ["é", "a b", "a\n", "a" * 194, "+491701234567", "A:b:c"])
def test_what_no_index_knows_is_refused(text: str) -> None:
    """A name that isn't ASCII would be compared with each row that there is."""
    for domain, client in ((text, None), (None, text)):
        with pytest.raises(Invalid):
            asked_by(USER, domain, client)
    with pytest.raises(Invalid):
        reason_in(text)


@pytest.mark.parametrize("text", ["+491701234567", " +49 170/123-45.67", "+49 (170) 1234567"])
def test_a_number_is_read_as_people_write_it(text: str) -> None:
    assert number_in(text) == "+491701234567"


@pytest.mark.parametrize("text", ["", "0170", "+0170", "+49x", "+1234567890123456", "+٤٩١٧٠"])
def test_what_is_no_number_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(Invalid) as refused:
        number_in(text)
    assert not text or text not in str(refused.value.errors)


def test_what_stands_for_a_number_is_read_strictly() -> None:
    assert macs_of(None) == macs_of("") == []
    assert macs_of("00" * 32 + "," + "01" * 32) == [bytes(32), b"\x01" * 32]
    for wrong in ("00", "zz" * 32, "00" * 32 + ",", ",".join(["00" * 32] * 9)):
        with pytest.raises(Invalid):
            macs_of(wrong)


def test_a_time_is_iso_8601() -> None:
    assert instant(None, "/x") is None
    assert instant("2030-03-01T12:00:00.000Z", "/x") == NOW
    with pytest.raises(Invalid):
        instant("yesterday", "/x")
