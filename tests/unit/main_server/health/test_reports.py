"""Which reports somebody may see (I12), and of how many days at most."""

from datetime import date, timedelta

import pytest

from gatepost.errors import Invalid
from gatepost.insight.shapes import LastRun
from gatepost.wire.people import UserRole
from main_server.api.portal.reports import MOST_DAYS, NOBODYS, days_of, for_domain, wanted_by
from main_server.messages.reading.scope import Asked
from main_server.people.users.viewer import Viewer
from tests.unit.portal.report_cases import reports

YESTERDAY = date(2026, 11, 17)
SPAN = (YESTERDAY, YESTERDAY)
ADMIN = Viewer("u", "alice", UserRole.ADMIN, "a.example")
ROOT = Viewer("r", "root", UserRole.SUPER_ADMIN, "gatepost")
NOW = "2026-11-18T10:00:00.000Z"


def test_usual_are_thirty_days_up_to_yesterday() -> None:
    assert days_of(None, None, YESTERDAY) == (date(2026, 10, 19), YESTERDAY)
    assert days_of(None, date(2030, 1, 1), YESTERDAY) == (date(2026, 10, 19), YESTERDAY)
    assert days_of(date(2026, 11, 1), None, YESTERDAY)[0] == date(2026, 11, 1)


def test_a_year_and_no_more() -> None:
    first = YESTERDAY - timedelta(days=MOST_DAYS - 1)
    assert days_of(first, YESTERDAY, YESTERDAY) == (first, YESTERDAY)
    for begin in (first - timedelta(days=1), date.min, YESTERDAY + timedelta(days=1)):
        with pytest.raises(Invalid):
            days_of(begin, YESTERDAY, YESTERDAY)


@pytest.mark.parametrize(
    ("first", "last"),
    [
        (None, date(1, 1, 5)),
        (date(1, 1, 10), date(1, 1, 20)),
        (date(2019, 12, 31), date(2020, 1, 20)),
    ],
)
def test_days_before_there_was_anything_are_refused(first: date | None, last: date) -> None:
    with pytest.raises(Invalid) as refused:
        days_of(first, last, YESTERDAY)
    assert [one.detail for one in refused.value.errors] == ["is before 2020-01-01"]


@pytest.mark.parametrize(
    ("asker", "asked", "expected"),
    [
        (ADMIN, Asked(), ("a.example", None)),
        (ADMIN, Asked("a.example", "a.example:x"), ("a.example", "a.example:x")),
        (ADMIN, Asked("b.example"), (NOBODYS, None)),
        (ADMIN, Asked("b.example", "b.example:x"), (NOBODYS, "b.example:x")),
        (ADMIN, Asked(None, "b.example:x"), ("a.example", "b.example:x")),
        (ROOT, Asked(), (None, None)),
        (ROOT, Asked("b.example"), ("b.example", None)),
        (ROOT, Asked(None, "b.example:x"), ("b.example", "b.example:x")),
    ],
)
def test_what_is_read_is_what_they_may_see(
    asker: Viewer, asked: Asked, expected: tuple[str | None, str | None]
) -> None:
    """Of one domain there is no row of another's client."""
    wanted = wanted_by(asker, asked, SPAN)
    assert (wanted.domain, wanted.client_id) == expected


def test_an_administrator_is_not_told_how_much_all_others_had() -> None:
    run = LastRun("nightly", "done", NOW, NOW, 1, 1_000_000, 3)
    found = for_domain(ADMIN, reports(domain="b.example", client="b.example:x", last_run=run))
    assert (found.domain, found.client) == ("a.example", None)
    assert found.last_run == LastRun("nightly", "done", NOW, NOW, 1, None, None)
