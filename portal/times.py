"""Times as pages show them: in the zone of the person who looks, with UTC at hand.

The zone is kept beside the page that is being made, not in what the page is given: the macros that
show times are in templates of their own, which see nothing of a page.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from gatepost import zones

_zone: ContextVar[ZoneInfo | None] = ContextVar("zone", default=None)


@dataclass(frozen=True, slots=True)
class Shown:
    """A moment, to the digit that was asked for: the local time, how far that is from UTC, and in
    UTC."""

    local: str
    offset: str
    utc: str


@contextmanager
def seen_from(zone: ZoneInfo) -> Iterator[None]:
    """Show what is rendered within to somebody who is in this zone."""
    token = _zone.set(zone)
    try:
        yield
    finally:
        _zone.reset(token)


def in_zone(iso: str, precision: str = "minutes") -> Shown:
    """Return a moment as pages show it: the filter of every template; `precision` as isoformat has
    it."""
    moment = datetime.fromisoformat(iso).astimezone(UTC)
    local = moment.astimezone(_zone.get() or zones.zone_of(None))
    return Shown(_text(local, precision), offset_of(local), f"{_text(moment, precision)} UTC")


def offset_of(local: datetime) -> str:
    """Return the offset at that moment: the same hour of a night in October may come with two."""
    return "UTC" if str(local.tzinfo) == zones.UTC else local.isoformat(timespec="seconds")[19:25]


def _text(moment: datetime, precision: str) -> str:
    return moment.replace(tzinfo=None).isoformat(" ", precision)
