"""Message ids: UUIDv7 (RFC 9562), so that a range of ids is a range of time.

Within a process ids only grow: 12 bits after the time count within a millisecond, and when they are
used up the next millisecond is borrowed. Only when a clock that was led astray has come back do ids
go back with it: ids that stay in the future get another day's key and another day's partition.
"""

import secrets
from uuid import UUID

from gatepost.clock import LEAP_MS, Clock

_COUNTER_BITS = 12
_COUNTER_START = 1 << (_COUNTER_BITS - 1)


class MessageIds:
    """A source of growing ids on one clock."""

    __slots__ = ("_clock", "_counter", "_ms")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ms = 0
        self._counter = 0

    def new(self) -> UUID:
        now = self._clock.now_ms()
        if now > self._ms or self._ms - now > LEAP_MS:
            self._ms, self._counter = now, secrets.randbelow(_COUNTER_START)
        else:
            self._counter += 1
            if self._counter >> _COUNTER_BITS:
                self._ms, self._counter = self._ms + 1, secrets.randbelow(_COUNTER_START)
        return UUID(
            int=self._ms << 80 | 0x7 << 76 | self._counter << 64 | 0b10 << 62 | secrets.randbits(62)
        )


def id_ms(message_id: UUID) -> int:
    """Return the time in an id, in milliseconds since the epoch."""
    return message_id.int >> 80


def first_id_at(ms: int) -> bytes:
    """Return the smallest id of a millisecond: the boundary of a range in time."""
    return ms.to_bytes(6, "big") + bytes(10)
