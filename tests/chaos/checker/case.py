"""The case: the evidence, what became of each message, and when one could expect what."""

from dataclasses import dataclass

from tests.chaos.checker.evidence import Evidence, Fault, Post
from tests.chaos.checker.fates import Fates, gather
from tests.chaos.checker.stretches import Calm, Stretch

EXPOSED_SECONDS = 5.0
"""So long after both stores can be reached, what only Redis has must be in the ledger (I1)."""
BACK_SECONDS = {"redis": 5.0, "mariadb": 10.0, "disk": 10.0, "main": 3.0, "services": 3.0}
"""So long after a fault's end a store may need until it can be reached again."""
CALM_AFTER_SECONDS = 10.0
"""So long after the last fault's end all must be as usual."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong, with which message, and why we say so."""

    kind: str
    subject: str
    why: str


@dataclass(slots=True)
class Case:
    evidence: Evidence
    fates: Fates
    calm: Calm
    """When nothing was wrong; by the wall clock, as rows have it."""
    reachable: Calm
    """When both stores could be reached; by the monotonic clock, as clients and faults have it."""


def open_case(evidence: Evidence) -> Case:
    troubles = [
        Stretch(fault.begin_wall, fault.end_wall + CALM_AFTER_SECONDS) for fault in evidence.faults
    ]
    silent = [
        Stretch(fault.begin / 1e9, fault.end / 1e9 + seconds)
        for fault in evidence.faults
        for store, seconds in BACK_SECONDS.items()
        if store in fault.target
    ]
    return Case(evidence, gather(evidence), Calm(troubles), Calm(silent))


def excuse(case: Case, told: list[Post]) -> Fault | None:
    """The fault that excuses a loss: this Redis was all that had the message, and we wiped it."""
    if any(post.durability != "queue" for post in told):
        return None
    asked = min(post.asked for post in told)
    answered = min(post.answered or post.asked for post in told)
    limit = case.reachable.first_of(EXPOSED_SECONDS, answered / 1e9) * 1e9
    for fault in case.evidence.faults:
        if fault.destroyed and fault.begin <= limit and fault.end >= asked:
            return fault
    return None
