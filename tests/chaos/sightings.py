"""What clients and ledger have seen of a run, as seconds on the wall clock, for measuring."""

from dataclasses import dataclass
from pathlib import Path

from tests.chaos.checker.evidence import ACCEPTED, Fault, read
from tests.chaos.timing import WINDOW, recovered_after, unavailable

UNDER_WAY = 409
"""The right answer to a twin, sent with the same key at the same instant: nothing was refused."""


@dataclass(frozen=True, slots=True)
class Recovery:
    """Of one fault: how long until all that was sent was accepted and delivered again, and for how
    long posts failed.
    """

    fault: str
    target: str
    accepting: float
    delivering: float
    unavailable: float

    @property
    def seconds(self) -> float:
        return max(self.accepting, self.delivering)


class Sightings:
    def __init__(self, folder: Path) -> None:
        evidence = read(folder)
        valid = [
            p
            for p in evidence.posts
            if p.expect == "deliver" and p.kind != "poison" and p.status != UNDER_WAY
        ]
        self.posts = sorted((p.asked_wall, p.outcome == ACCEPTED) for p in valid)
        self.sent = [sent for sent, _ in self.posts]
        self.sent_first = sorted(p.asked_wall for p in valid if p.kind != "repeat")
        self.accepted = sorted(
            p.answered_wall for p in valid if p.outcome == ACCEPTED and p.answered_wall
        )
        self.delivered = sorted(
            t.at_ms / 1000
            for t in evidence.transitions
            if t.after == "delivered" and t.before != "delivered"
        )
        came = {t.message_id: t.at_ms / 1000 for t in evidence.transitions if t.before is None}
        self.exposed = [
            (p.asked_wall, came[p.message_id])
            for p in valid
            if p.durability == "queue" and p.message_id in came
        ]
        """Of each message that Redis alone had: when it was sent, and when the ledger had it."""
        self.faults: list[Fault] = sorted(evidence.faults, key=lambda fault: fault.begin)

    def recovery(self, fault: Fault, until: float) -> Recovery:
        """From the end of a fault on, as far as `until`."""
        end = fault.end_wall
        accepting = recovered_after(self.accepted, self.sent, end, until)
        delivering = recovered_after(self.delivered, self.sent_first, end, until)
        away = unavailable(self.posts, fault.begin_wall, until - WINDOW)
        return Recovery(fault.name, fault.target, accepting, delivering, away)
