"""The largest numbers of days and minutes that may stand for a time: no calendar goes beyond
them."""

MOST_DAYS = 36_525
MOST_MINUTES = MOST_DAYS * 24 * 60
