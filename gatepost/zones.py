"""The time zones that people can choose: places, as the tz database names them, and UTC.

The machine's own database counts, and the package `tzdata` where it has none.
"""

from datetime import date, datetime, time
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

UTC = "UTC"
REGIONS = (
    "Africa", "America", "Antarctica", "Arctic", "Asia",
    "Atlantic", "Australia", "Europe", "Indian", "Pacific",
)  # fmt: skip
"""The regions whose zones can be chosen. A zone of no region has no summer time of its own, or is
an older name of one that is of a region."""


@cache
def zone_names() -> tuple[str, ...]:
    """Return all names that can be chosen, UTC first."""
    places = (name for name in available_timezones() if name.partition("/")[0] in REGIONS)
    return UTC, *sorted(name for name in places if "/" in name)


def zone_of(name: str | None) -> ZoneInfo:
    """Return the zone of that name; UTC where none was chosen, or where this machine doesn't know
    it."""
    return ZoneInfo(name if name in zone_names() and name is not None else UTC)


def begin_of(day: date, zone: ZoneInfo) -> datetime:
    """Return the moment when a day begins in a zone. Where summer time begins at midnight, that is
    the moment of it; where an hour comes twice, the first of the two."""
    return datetime.combine(day, time(), zone)
