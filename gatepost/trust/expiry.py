"""How soon a certificate expires, in the steps at which it is announced. Pure."""

from datetime import datetime, timedelta

DAYS = (1, 7, 30)


def stage_of(not_after: datetime, now: datetime) -> int | None:
    """The smallest of DAYS that it is within; 0 if it is over, None if it is within none."""
    left = not_after - now
    if left <= timedelta():
        return 0
    return next((days for days in DAYS if left <= timedelta(days=days)), None)
