"""The largest numbers that may stand for a time: beyond them, no calendar goes on."""

MOST_DAYS = 36_525
MOST_MINUTES = MOST_DAYS * 24 * 60
