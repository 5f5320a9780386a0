"""Days, the ids that they have, and the partitions that they are in. Pure."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from gatepost.ids import first_id_at

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Span:
    """The ids of a stretch of time: from the first one, up to but not including the end."""

    first: bytes
    end: bytes


def span_of(day: date) -> Span:
    return Span(first_id_of(day), end_of(day))


def first_id_of(day: date) -> bytes:
    begins = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return first_id_at(int(begins.timestamp() * 1000))


def end_of(day: date) -> bytes:
    return first_id_of(day + DAY)


def day_of(message_id: bytes) -> date:
    return datetime.fromtimestamp(int.from_bytes(message_id[:6], "big") / 1000, UTC).date()


def last_day_in(partition: str) -> date | None:
    """Return the last day in the partition, which is named after it; None for the one without an
    end."""
    if len(partition) != len("p20260101") or not partition[1:].isdigit():
        return None
    return datetime.strptime(partition[1:], "%Y%m%d").replace(tzinfo=UTC).date()
