"""What is looked for in the audit log, as an address says it."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from gatepost.errors import Invalid
from main_server.audit.asking import filters_of, place_in, place_text, times_of
from main_server.audit.list_repository import Filters
from main_server.audit.search import EVER, Place

NOON = datetime(2026, 11, 18, 12)


def test_people_are_meant_by_what_they_are_called() -> None:
    found = filters_of(" alice@example.com ", "message.opened", "example.com:client_001")
    assert found == Filters(
        "gatepost://example.com/user/alice", "message.opened", "example.com:client_001"
    )
    assert filters_of("shell:root", "", None) == Filters(actor="shell:root")
    assert filters_of(None, None, "3 messages") == Filters(subject="3 messages")


@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        (("é", None, None), "/actor"),
        (("x" * 256, None, None), "/actor"),
        ((None, "message.eaten", None), "/action"),
        ((None, "' OR 1", None), "/action"),
        ((None, None, "a\nb"), "/subject"),
        ((None, None, "+49 170 1234567"), "/subject"),
        (("+491701234567", None, None), "/actor"),
    ],
)
def test_what_can_be_in_no_entry_is_refused(
    given: tuple[str | None, str | None, str | None], pointer: str
) -> None:
    with pytest.raises(Invalid) as refused:
        filters_of(*given)
    assert [one.pointer for one in refused.value.errors] == [pointer]


def test_times_are_in_utc() -> None:
    east = NOON.replace(tzinfo=timezone(timedelta(hours=2)))
    assert times_of(east, None).first == NOON - timedelta(hours=2)
    assert times_of(None, NOON.replace(tzinfo=UTC)).end == NOON
    assert times_of(None, None) == EVER
    with pytest.raises(Invalid):
        times_of(NOON, NOON)


def test_a_place_is_read_as_it_is_said() -> None:
    place = Place(NOON, 7)
    assert place_in(place_text(place)) == place
    assert place_in(None) is None
    assert place_text(None) is None
    for wrong in ("x", "1", "1.2.3", "1.-1", "1.99999", "-1.1", "99999999999999999.1", "١.١"):
        with pytest.raises(Invalid):
            place_in(wrong)


def test_times_end_where_the_calendar_does() -> None:
    """A day that was typed may begin before the first one, where the reader is."""
    first = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))
    end = datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-12)))
    found = times_of(first, end)
    assert (found.first, found.end) == (first.replace(tzinfo=None), end.replace(tzinfo=None))
