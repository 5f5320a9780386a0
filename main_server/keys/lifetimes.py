"""The lifetimes of keys. Pure; all times are the ledger's, UTC.

The edge seals to a key for at most two days after it was made, and for at most one after it was
replaced: it refuses to go on with one that is older, so a proxy that was cut off from all main
servers can't seal what nobody will be able to open. Each message ends within its lifetime. So the
private half may go when the lifetime of the last message that it may have sealed is over (I1), and
goes then (retention).
"""

from datetime import UTC, date, datetime, time, timedelta

DAY = timedelta(days=1)
MAX_LIFETIME = timedelta(hours=96)
"""The longest life of a message, from its being queued to its end."""

SEALING_TURN = DAY
"""The age at which a sealing key is replaced."""
SEALING_USE = 2 * DAY
"""The age at which the edge refuses a sealing key."""

TOKEN_KEY_AFTERLIFE = timedelta(hours=1)
"""The time for which a key that was replaced still verifies what it signed: longer than any access
token lives."""


def use_until(made_at: datetime) -> datetime:
    return made_at + SEALING_USE


def is_due(made_at: datetime, now: datetime) -> bool:
    return now - made_at >= SEALING_TURN


def dies_at(made_at: datetime, replaced_at: datetime) -> datetime:
    """Return when a sealing key that was replaced is destroyed."""
    return max(replaced_at + DAY, use_until(made_at)) + MAX_LIFETIME


def destroyable_from(day: date) -> datetime:
    """Return from when the data key of a day may go: each message of the day has ended a day before
    then."""
    begins = datetime.combine(day, time(), tzinfo=UTC).replace(tzinfo=None)
    return begins + DAY + MAX_LIFETIME + DAY
