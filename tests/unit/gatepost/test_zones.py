"""Time zones: which can be chosen, and when a day begins in them, in nights with another hour."""

from datetime import UTC, date, timedelta

import pytest

from gatepost.zones import begin_of, zone_names, zone_of


def test_places_and_utc_can_be_chosen_and_nothing_else() -> None:
    names = zone_names()
    assert names[0] == "UTC"
    assert {"Europe/Berlin", "America/Argentina/Ushuaia", "Asia/Kolkata"} <= set(names)
    assert not {"Etc/GMT+1", "posixrules", "localtime", "EST5EDT", "US/Eastern"} & set(names)
    assert len(names) == len(set(names)) > 300


@pytest.mark.parametrize("name", [None, "", "Mars/Phobos", "../../etc/passwd", "/etc/localtime"])
def test_an_unknown_one_is_utc(name: str | None) -> None:
    assert str(zone_of(name)) == "UTC"


@pytest.mark.parametrize(
    ("zone", "day", "begins", "hours"),
    [
        ("UTC", date(2026, 3, 29), "2026-03-29T00:00", 24),
        ("Europe/Berlin", date(2026, 3, 29), "2026-03-28T23:00", 23),
        ("Europe/Berlin", date(2026, 10, 25), "2026-10-24T22:00", 25),
        ("Australia/Lord_Howe", date(2026, 4, 5), "2026-04-04T13:00", 24.5),
        ("Asia/Kathmandu", date(2026, 1, 1), "2025-12-31T18:15", 24),
        # Summer time begins at midnight: the day begins at one o'clock.
        ("Africa/Cairo", date(2026, 4, 24), "2026-04-23T22:00", 23),
        # And ends at midnight: the hour before it comes twice, and is the day before's.
        ("Africa/Cairo", date(2026, 10, 30), "2026-10-29T22:00", 24),
        # Here it is the first hour of a day that comes twice.
        ("America/Havana", date(2026, 11, 1), "2026-11-01T04:00", 25),
    ],
)
def test_a_day_begins_and_ends_there(zone: str, day: date, begins: str, hours: float) -> None:
    begin = begin_of(day, zone_of(zone)).astimezone(UTC)
    end = begin_of(day + timedelta(days=1), zone_of(zone)).astimezone(UTC)
    assert begin.isoformat()[:16] == begins
    assert end - begin == timedelta(hours=hours)
