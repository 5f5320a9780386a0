"""Times on pages: in the reader's zone, with how far that is from UTC, and UTC at hand."""

import re
from datetime import timedelta
from typing import Any

import pytest

from gatepost.errors import Invalid
from gatepost.zones import zone_of
from portal import cookies
from portal.filters import Filters
from portal.times import in_zone, seen_from
from tests.unit.portal.browser import Browser

BERLIN = zone_of("Europe/Berlin")


def seen(iso: str, zone: str, precision: str = "minutes") -> tuple[str, str, str]:
    with seen_from(zone_of(zone)):
        found = in_zone(iso, precision)
    return found.local, found.offset, found.utc


@pytest.mark.parametrize(
    ("iso", "zone", "local", "offset"),
    [
        ("2026-11-18T10:00:05.123Z", "UTC", "2026-11-18 10:00", "UTC"),
        ("2026-11-18T10:00:05.123Z", "Europe/Berlin", "2026-11-18 11:00", "+01:00"),
        ("2026-07-18T22:30:00.000Z", "Europe/Berlin", "2026-07-19 00:30", "+02:00"),
        ("2026-11-18T23:59:59.999Z", "America/New_York", "2026-11-18 18:59", "-05:00"),
        ("2026-11-18T10:00:00.000Z", "Asia/Kathmandu", "2026-11-18 15:45", "+05:45"),
        # The night in which an hour comes twice: the offset tells which.
        ("2026-10-25T00:30:00.000Z", "Europe/Berlin", "2026-10-25 02:30", "+02:00"),
        ("2026-10-25T01:30:00.000Z", "Europe/Berlin", "2026-10-25 02:30", "+01:00"),
        # And the one that lacks an hour.
        ("2026-03-29T00:59:00.000Z", "Europe/Berlin", "2026-03-29 01:59", "+01:00"),
        ("2026-03-29T01:00:00.000Z", "Europe/Berlin", "2026-03-29 03:00", "+02:00"),
        ("2026-07-18T10:00:00.000Z", "Europe/London", "2026-07-18 11:00", "+01:00"),
        ("2026-11-18T10:00:00.000Z", "Europe/London", "2026-11-18 10:00", "+00:00"),
    ],
)
def test_a_time_is_shown_as_it_is_there(iso: str, zone: str, local: str, offset: str) -> None:
    assert seen(iso, zone) == (local, offset, f"{iso[:10]} {iso[11:16]} UTC")


def test_to_the_digit_that_is_wanted() -> None:
    iso = "2026-11-18T10:00:05.123Z"
    assert seen(iso, "UTC", "seconds")[0] == "2026-11-18 10:00:05"
    assert seen(iso, "Asia/Tokyo", "milliseconds")[::2] == (
        "2026-11-18 19:00:05.123",
        "2026-11-18 10:00:05.123 UTC",
    )


def test_outside_of_a_page_it_is_utc() -> None:
    with seen_from(BERLIN):
        pass
    assert in_zone("2026-11-18T10:00:00.000Z").offset == "UTC"


@pytest.mark.parametrize(
    ("day", "zone", "first", "end"),
    [
        ("2026-11-18", "UTC", "2026-11-18T00:00:00.000Z", "2026-11-19T00:00:00.000Z"),
        ("2026-10-25", "Europe/Berlin", "2026-10-24T22:00:00.000Z", "2026-10-25T23:00:00.000Z"),
        ("2026-03-29", "Europe/Berlin", "2026-03-28T23:00:00.000Z", "2026-03-29T22:00:00.000Z"),
        ("2026-11-18", "Pacific/Auckland", "2026-11-17T11:00:00.000Z", "2026-11-18T11:00:00.000Z"),
    ],
)
def test_a_day_that_is_typed_is_one_of_there(day: str, zone: str, first: str, end: str) -> None:
    asked = Filters(first=day, last=day).asked(zone_of(zone))
    assert asked == {"from": first, "to": end}


@pytest.mark.parametrize("day", ["x", "2026-02-30", "9999-12-31", "0001-01-01", "18.11.2026"])
def test_what_is_no_day_is_told(day: str) -> None:
    """The first and the last that there are, too: they have no beginning or no end in UTC."""
    with pytest.raises(Invalid, match="not allowed"):
        Filters(first=day, last=day).asked(zone_of("Pacific/Auckland"))


async def test_a_page_and_its_search_are_in_the_zone_of_who_looks(browser: Browser) -> None:
    await browser.sign_in()
    browser.main.time_zone = "Europe/Berlin"
    browser.http.cookies.set(cookies.ACCESS, browser.main.token(timedelta(hours=1)))
    page = await browser.get("/account")
    shown = re.search(
        r'<time datetime="2026-11-18T10:00:00.000Z" title="([^"]+)">([^<]+)', page.text
    )
    assert shown, page.text
    assert shown.groups() == ("2026-11-18 10:00 UTC", "2026-11-18 11:00 ")
    assert '<span class="gp-offset">+01:00</span>' in page.text
    browser.main.answers["GET /messages"] = (
        200,
        {
            "messages": [],
            "before": None,
            "looked_back_to": None,
        },
    )
    page = await browser.get("/messages?first=2026-10-25&last=2026-10-25")
    asked = dict(browser.main.heard[-1].url.params)
    assert asked == {"from": "2026-10-24T22:00:00.000Z", "to": "2026-10-25T23:00:00.000Z"}
    assert "Days are those of Europe/Berlin" in page.text


async def test_a_zone_is_chosen_and_counts_from_the_next_page_on(browser: Browser) -> None:
    await browser.sign_in()
    token = browser.main.token()
    answer: dict[str, Any] = {"access_token": token, "refresh_token": None}
    browser.main.answers["POST /time-zone"] = 200, answer
    chosen = await browser.send("/account/time-zone", "/account", time_zone="Asia/Tokyo")
    assert chosen.headers["location"] == "/account?done=time-zone"
    assert browser.main.said() == {"time_zone": "Asia/Tokyo"}
    assert browser.http.cookies[cookies.ACCESS] == token
    assert "from now on" in (await browser.get(chosen.headers["location"])).text
    browser.main.refuse("POST /time-zone", 422, "invalid", "There is no such time zone.")
    refused = await browser.send("/account/time-zone", "/account", time_zone="Mars/Phobos")
    assert (refused.status_code, "no such time zone" in refused.text) == (422, True)
