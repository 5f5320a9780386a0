"""How long something was away, by the times at which it worked. Pure; all times are in seconds."""

from bisect import bisect_left
from collections.abc import Sequence

WINDOW = 1.0
STEP = 0.1
NORMAL = 0.95


def rate(times: Sequence[float], begin: float, end: float) -> float:
    """How often a second, between two instants; `times` are in order."""
    return (bisect_left(times, end) - bisect_left(times, begin)) / (end - begin)


def recovered_after(times: Sequence[float], moment: float, usual: float, until: float) -> float:
    """From a moment on: how long until as much happens again as usual, by 95 %.

    It is the first second of that rate that counts; where there is none, infinity.
    """
    at = moment
    while at + WINDOW <= until:
        if rate(times, at, at + WINDOW) >= NORMAL * usual:
            return at - moment
        at += STEP
    return float("inf")


def unavailable(posts: Sequence[tuple[float, bool]], begin: float, end: float) -> float:
    """For how many seconds between two instants more posts failed than were accepted.

    A post is the instant at which it was sent, and whether it was accepted.
    """
    balance: dict[int, int] = {}
    for sent, accepted in posts:
        if begin <= sent < end:
            slot = int((sent - begin) / STEP)
            balance[slot] = balance.get(slot, 0) + (1 if accepted else -1)
    return STEP * sum(value < 0 for value in balance.values())


def accepted_share(posts: Sequence[tuple[float, bool]], begin: float, end: float) -> float:
    """Of what was sent between two instants, how much was accepted; 1 where nothing was."""
    outcomes = [accepted for sent, accepted in posts if begin <= sent < end]
    return sum(outcomes) / len(outcomes) if outcomes else 1.0
