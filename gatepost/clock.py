"""The one place that reads the time: UTC milliseconds that never run backwards in a process.

The id of a message decides its partition and its data key, so what follows must see neither a
wall clock that is wrong nor one that is set back: it is corrected by a clock that we all share.
"""

import time
from datetime import UTC, datetime, timedelta

TOLERATED_MS = 100
WORTH_NOTING_MS = 2_000

FIRST_MS, LAST_MS = -30_610_224_000_000, 253_402_300_799_999
"""The years 1000 to 9999: what a DATETIME of the ledger is sure to hold."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


class Clock:
    """Milliseconds since the epoch; monotonic within the process."""

    __slots__ = ("_latest", "offset_ms")

    def __init__(self) -> None:
        self._latest = 0
        self.offset_ms = 0

    def now_ms(self) -> int:
        self._latest = max(self._latest, _wall_ms() + self.offset_ms)
        return self._latest

    def correct(self, reference_ms: int, took_ms: float) -> None:
        """By a reference that was read just now, in a call that took so long."""
        offset = reference_ms - _wall_ms() + round(took_ms / 2)
        self.offset_ms = offset if abs(offset) > max(took_ms, TOLERATED_MS) else 0

    @property
    def note(self) -> str | None:
        """What operators should know: that this machine's clock is wrong."""
        if abs(self.offset_ms) <= WORTH_NOTING_MS:
            return None
        return f"this clock is off by {-self.offset_ms / 1000:.1f} s; it is being corrected"


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


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
