"""When a call is repeated, and after how long: pure, the same for both clients."""

from gatepost.client.errors import GatepostError, RateLimited, RetryableError, Unavailable

FIRST_PAUSE = 0.2
LONGEST_PAUSE = 5.0


def certainly_not_accepted(error: GatepostError) -> bool:
    """Whether repeating can't make a second message of one.

    Never connected, 429 and the gateway's own 503 ("nothing of it was kept") all say: no.
    `OutcomeUnknown` says: perhaps. Each send keeps its Idempotency-Key when it is repeated, but the
    gateway doesn't compare keys yet, so that a second try could be a second message. Once it does,
    `OutcomeUnknown` belongs here.
    """
    return isinstance(error, (RateLimited, Unavailable))


def pause_before_retry(
    error: GatepostError, *, retries: int, remaining: float, jitter: float
) -> float | None:
    """Seconds to wait before the next try; None when there is to be none.

    What the gateway asks for (Retry-After) is waited in full; to it comes a growing, capped pause,
    of which each client takes a share by chance (`jitter`, 0 to 1), so that they don't come back
    all at once. A pause that would outlast what remains is not begun.
    """
    if not certainly_not_accepted(error):
        return None
    asked = error.retry_after if isinstance(error, RetryableError) else None
    grown = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(retries, 10))
    pause = (asked or 0.0) + jitter * grown
    return pause if pause < remaining else None
