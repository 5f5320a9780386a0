"""Limit how many codes can be guessed at. Pure.

Whoever gets here knows the password, and three of a million codes are good at any time. So wrong
ones are counted over all networks and for days: some may be given at once, then one each quarter of
an hour, which is a chance of one in a hundred in a month. Recovery codes aren't held up by it: they
can't be guessed, and the account's owner gets in by one meanwhile, and takes another password.
"""

from datetime import datetime, timedelta

FREE = 30
EASED = timedelta(minutes=15)
"""The time after which one wrong code is forgotten, again and again."""


def still_counted(wrong: int, last_at: datetime | None, now: datetime) -> int:
    if last_at is None:
        return 0
    return max(wrong - max((now - last_at) // EASED, 0), 0)


def wait_before(wrong: int, last_at: datetime | None, now: datetime) -> timedelta:
    """Return how long it still is until a code is looked at; nothing if it is looked at now."""
    if last_at is None or still_counted(wrong, last_at, now) < FREE:
        return timedelta(0)
    left = last_at + (wrong - FREE + 1) * EASED - now
    return min(left, EASED)  # a clock that was set back must not make it long
