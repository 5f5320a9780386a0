"""Decide what becomes of a delivery after its attempt. Pure.

Only a refusal that may pass uses up attempts and waits; an outage is nobody's attempt and never
gets here (worker.delivering gives back).
"""

import random
from dataclasses import dataclass
from enum import Enum

from gatepost.queue import Reason
from gatepost.wire.contract import DeliverResult, Result
from worker.settings import Pool


class Outcome(Enum):
    ACKNOWLEDGE = "acknowledge"
    RETRY_LATER = "retry_later"
    DEAD_LETTER = "dead_letter"
    GIVE_BACK = "give_back"


@dataclass(frozen=True, slots=True)
class Decision:
    outcome: Outcome
    reason: Reason | None = None
    in_ledger: bool = True
    """True if the ledger has this outcome already; if not, it must be told before the queue is."""
    delay: float = 0.0
    """The seconds until the next attempt."""


_ENDED = {Result.DELIVERED, Result.ALREADY, Result.DUPLICATE, Result.ERASED}
_REASONS = {
    "unreadable": Reason.UNREADABLE,
    "discarded": Reason.DISCARDED,
    "key_conflict": Reason.KEY_CONFLICT,
}


def decide(result: DeliverResult, attempts: int, pool: Pool) -> Decision:
    if result.result in _ENDED:
        return Decision(Outcome.ACKNOWLEDGE)
    if result.result is Result.EXPIRED:
        return Decision(Outcome.DEAD_LETTER, Reason.EXPIRED)
    if result.result is Result.HELD:
        return Decision(Outcome.GIVE_BACK)
    if not result.retryable:
        reason = _REASONS.get(result.reason or "", Reason.REFUSED)
        return Decision(Outcome.DEAD_LETTER, reason, in_ledger=False)
    if attempts >= pool.max_attempts:
        return Decision(Outcome.DEAD_LETTER, Reason.ATTEMPTS_USED, in_ledger=False)
    delay = retry_delay(attempts, pool)
    return Decision(Outcome.RETRY_LATER, in_ledger=False, delay=delay)


def retry_delay(attempts: int, pool: Pool) -> float:
    """Return the seconds until the next attempt, after so many."""
    if pool.retry == "fixed":
        return pool.retry_interval
    doubled = pool.retry_interval * 2.0 ** min(attempts - 1, 32)
    return min(doubled, pool.retry_longest) * random.uniform(0.5, 1.0)
