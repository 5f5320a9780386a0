"""Count what changes after a day was sealed: a redrive, an erasure, a late success. Pure."""

from analytics.ledger.repository import Counts


def count_late(published: Counts, now: Counts) -> int:
    """Return how many messages, at least, are in a state that the published day doesn't know them
    in.

    Each change makes one state of a client more, and another less or, for a message that is new,
    none. What retention has taken away makes none more, so it isn't counted; it goes client by
    client, so it hides no change of another's.
    """
    return sum(max(0, count - published.get(key, 0)) for key, count in now.items())
