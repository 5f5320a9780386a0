"""The one place that reads the time: UTC milliseconds that never run backwards in a process.

The id of a message decides its partition and its data key, so a wall clock that is set back must
not be seen by what follows.
"""

import time
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


class Clock:
    """Milliseconds since the epoch; monotonic within the process."""

    __slots__ = ("_latest",)

    def __init__(self) -> None:
        self._latest = 0

    def now_ms(self) -> int:
        self._latest = max(self._latest, time.time_ns() // 1_000_000)
        return self._latest


def iso(ms: int) -> str:
    """ISO 8601 in UTC with milliseconds, the form of every time at the boundary."""
    seconds, millis = divmod(ms, 1000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{millis:03d}Z"


def to_ms(moment: datetime) -> int:
    """Milliseconds of an aware time, or of a naive one that is UTC (as the ledger keeps them).

    Cut, not rounded: the last instant of the year 9999 must not become one that can't be told.
    """
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // _MILLISECOND


def from_ms(ms: int) -> datetime:
    """The naive UTC time that the ledger keeps."""
    return datetime.fromtimestamp(ms // 1000, UTC).replace(
        tzinfo=None, microsecond=ms % 1000 * 1000
    )
