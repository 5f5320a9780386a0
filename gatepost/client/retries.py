"""Decides when a call is repeated, and after how long: pure, the same for both clients."""

from gatepost.client.errors import GatepostError, OutcomeUnknown, RateLimited, Refused, Unavailable

FIRST_PAUSE = 0.2
LONGEST_PAUSE = 5.0
PACED = 5
"""The number of times that a client which was too fast comes back at its own pace, before it is
thought that others use up its rate."""


def pause_before_retry(
    error: GatepostError, *, retries: int, remaining: float, jitter: float
) -> float | None:
    """Return the seconds to wait before the next try; None if there is to be none.

    Two reasons make a repeat safe. A failure to connect, 429 and the gateway's 503 say that nothing
    was accepted. And where that can't be known, the repeat carries the same Idempotency-Key, and
    the gateway answers with the receipt of the first. Everything else would only fail again.

    What the gateway asks for (Retry-After) is waited in full; to it comes a growing, capped pause,
    of which each client takes a share by chance (`jitter`, 0 to 1), so that they don't come back
    all at once. A client that has been told its rate comes back when it is its turn (`pace`). A
    pause that would outlast what remains is not begun.
    """
    if not isinstance(error, (RateLimited, Unavailable, OutcomeUnknown)):
        return None
    if isinstance(error, RateLimited) and error.interval and retries < PACED:
        return 0.0 if (error.retry_after or 0.0) - 1.0 < remaining else None
    grown = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(retries, 10))
    pause = (error.retry_after or 0.0) + jitter * grown
    return pause if pause < remaining else None


def last_word(error: GatepostError, unknown: OutcomeUnknown | None) -> GatepostError:
    """Return the error to raise in the end: a try that may have been accepted is not forgotten.

    If such a one (`unknown`) was followed by "can't be reached", say, then whether the message was
    accepted is as unknown as before. But what is refused for what it is was refused the first time.
    """
    if unknown is None or isinstance(error, (Refused, OutcomeUnknown)):
        return error
    unknown.__cause__ = error
    return unknown
