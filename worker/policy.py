"""What becomes of a delivery after its attempt: one pure decision.

Only a refusal that may pass uses up attempts and waits; an outage is nobody's attempt and never
gets here (worker.delivering gives back).
"""

from dataclasses import dataclass
from enum import Enum

from gatepost.delivering import DeliverResult, Result
from gatepost.queue import Reason


class Outcome(Enum):
    ACKNOWLEDGE = "acknowledge"
    RETRY_LATER = "retry_later"
    DEAD_LETTER = "dead_letter"


@dataclass(frozen=True, slots=True)
class Decision:
    outcome: Outcome
    reason: Reason | None = None


_ACKNOWLEDGED = {Result.DELIVERED, Result.ALREADY, Result.DUPLICATE, Result.ERASED}
_REASONS = {"unreadable": Reason.UNREADABLE, "expired": Reason.EXPIRED}


def decide(result: DeliverResult, attempts: int, max_attempts: int) -> Decision:
    if result.result in _ACKNOWLEDGED:
        return Decision(Outcome.ACKNOWLEDGE)
    if result.result is Result.EXPIRED:
        return Decision(Outcome.DEAD_LETTER, Reason.EXPIRED)
    if result.retryable and attempts < max_attempts:
        return Decision(Outcome.RETRY_LATER)
    if result.retryable:
        return Decision(Outcome.DEAD_LETTER, Reason.ATTEMPTS_USED)
    return Decision(Outcome.DEAD_LETTER, _REASONS.get(result.reason or "", Reason.REFUSED))
