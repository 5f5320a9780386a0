"""How long something was away, by the times at which it worked. Pure; all times are in seconds."""

from bisect import bisect_left
from collections.abc import Sequence

WINDOW = 0.25
"""Of a rate. In a longer one the burst that follows a gap would hide the gap."""
STEP = 0.1
NORMAL = 0.95


def recovered_after(
    times: Sequence[float], sent: Sequence[float], moment: float, until: float
) -> float:
    """From a moment on: how long until as much happens as is sent, by 95 %; both are in order.

    It is the first window of that rate that counts; where there is none, infinity. What is sent is
    the measure, not what happened before: senders that post at random times have lulls.
    """
    at = moment
    while at + WINDOW <= until:
        if _count(times, at) >= NORMAL * _count(sent, at):
            return at - moment
        at += STEP
    return float("inf")


def _count(times: Sequence[float], begin: float) -> int:
    return bisect_left(times, begin + WINDOW) - bisect_left(times, begin)


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
