"""The one place that reads the time: UTC milliseconds that never run backwards in a process.

The id of a message decides its partition and its data key, so whatever uses the time must see
neither a wall clock that is wrong nor one that is set back: the time is corrected by a clock that
we all share.
"""

import time
from datetime import UTC, datetime, timedelta
from functools import lru_cache

TOLERATED_MS = 100
WORTH_NOTING_MS = 2_000
LEAP_MS = 300_000
TIMES_TO_BELIEVE = 5
SAME_MS = 1_000

FIRST_MS, LAST_MS = -30_610_224_000_000, 253_402_300_799_999
"""The years 1000 to 9999: what a DATETIME of the ledger is sure to hold."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NAIVE_EPOCH = datetime(1970, 1, 1)
_MILLISECOND = timedelta(milliseconds=1)


class Clock:
    """Milliseconds since the epoch; monotonic within the process.

    It goes by the machine's monotonic clock from where it was last set, so that a wall clock that
    is set while we run changes nothing. The wall clock says where it begins.
    """

    __slots__ = ("_base", "_corrected", "_latest", "_suspected")

    def __init__(self) -> None:
        self._base = _wall_ms() - _steady_ms()
        self._corrected = False
        self._suspected: list[int] = []
        self._latest = 0

    def now_ms(self) -> int:
        now = self._base + _steady_ms()
        if self._latest - now > LEAP_MS:
            self._latest = now  # we were led astray: to stay there is worse than one step back
        self._latest = max(self._latest, now)
        return self._latest

    def correct(self, reference_ms: int, took_ms: float) -> None:
        """Correct the clock by a reference that was read just now, in a call that took `took_ms`.

        The first reference is believed. Later ones that are far from the clock must be seen several
        times.
        """
        base = reference_ms - _steady_ms() + round(took_ms / 2)
        if self._corrected and abs(base - self._base) > LEAP_MS:
            near = [one for one in self._suspected if abs(one - base) <= SAME_MS]
            self._suspected = [*near, base]
            if len(self._suspected) < TIMES_TO_BELIEVE:
                return
        self._suspected = []
        self._corrected = True
        if abs(base - self._base) > max(took_ms, TOLERATED_MS):
            self._base = base

    @property
    def known(self) -> bool:
        """True once a shared clock has been heard. Before that no id may be made: by a wall clock
        that is wrong it would lie in another hour, or another year."""
        return self._corrected

    @property
    def note(self) -> str | None:
        """A note for operators that a clock is wrong, this machine's or the shared one; None if
        neither is."""
        if self._suspected:
            leap = (self._suspected[-1] - self._base) / 1000
            return f"the shared clock leapt by {leap:.1f} s; that is not believed yet"
        off = self.ahead_ms
        if abs(off) <= WORTH_NOTING_MS:
            return None
        return f"this machine's clock is off by {off / 1000:.1f} s; it is being corrected"

    @property
    def ahead_ms(self) -> int:
        """Milliseconds by which this machine's clock is ahead of this one. A reference that has
        leapt counts here, though it isn't believed yet."""
        base = self._suspected[-1] if self._suspected else self._base
        return _wall_ms() - _steady_ms() - base


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


def _steady_ms() -> int:
    return time.monotonic_ns() // 1_000_000


def iso(ms: int) -> str:
    """Return a time as ISO 8601 in UTC with milliseconds, the form of every time at the
    boundary."""
    seconds, millis = divmod(ms, 1000)
    return f"{_iso_second(seconds)}.{millis:03d}Z"


@lru_cache(maxsize=256)
def _iso_second(seconds: int) -> str:
    """Return a second as ISO 8601; cached, as under load thousands of times fall into the same
    one."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}"


def ledger_time(ms: int) -> str:
    """Return a time as the ledger takes it in; for many rows a third of what a datetime costs."""
    return iso(ms)[:-1]


def to_ms(moment: datetime) -> int:
    """Return the milliseconds of an aware time, or of a naive one that is UTC (as the ledger keeps
    them).

    They are cut, not rounded: the last instant of the year 9999 must not become one that can't be
    told.
    """
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // _MILLISECOND


def from_ms(ms: int) -> datetime:
    """Return the naive UTC time that the ledger keeps."""
    return _NAIVE_EPOCH + timedelta(milliseconds=ms)
