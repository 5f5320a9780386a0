"""Tells how soon a certificate expires, in the steps at which it is announced. Pure."""

from datetime import datetime, timedelta

DAYS = (1, 7, 30)


def stage_of(not_after: datetime, now: datetime) -> int | None:
    """Return the smallest of DAYS within which the certificate expires; 0 if it has expired, None
    if it lasts longer than all of DAYS."""
    left = not_after - now
    if left <= timedelta():
        return 0
    return next((days for days in DAYS if left <= timedelta(days=days)), None)
