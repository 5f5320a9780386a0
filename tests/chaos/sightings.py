"""What clients and ledger have seen of a run, as seconds on the wall clock, for measuring."""

from dataclasses import dataclass
from pathlib import Path

from tests.chaos.checker.evidence import ACCEPTED, DECLINED, UNKNOWN, Fault, read
from tests.chaos.timing import WINDOW, rate, recovered_after, unavailable

BASELINE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Recovery:
    """Of one fault: how long until as much was accepted and delivered as before it, and for how
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
        valid = [p for p in evidence.posts if p.expect == "deliver" and p.kind != "poison"]
        judged = [p for p in valid if p.outcome in (ACCEPTED, DECLINED, UNKNOWN)]
        self.posts = sorted((p.asked_wall, p.outcome == ACCEPTED) for p in judged)
        self.accepted = sorted(
            p.answered_wall for p in valid if p.outcome == ACCEPTED and p.answered_wall
        )
        self.delivered = sorted(
            t.at_ms / 1000
            for t in evidence.transitions
            if t.after == "delivered" and t.before != "delivered"
        )
        self.faults: list[Fault] = sorted(evidence.faults, key=lambda fault: fault.begin)

    def recovery(self, fault: Fault, until: float) -> Recovery:
        """From the end of a fault on, as far as `until`."""
        begin, end = fault.begin_wall, fault.end_wall
        accepting, delivering = (
            recovered_after(times, end, rate(times, begin - BASELINE_SECONDS, begin), until)
            for times in (self.accepted, self.delivered)
        )
        away = unavailable(self.posts, begin, until - WINDOW)
        return Recovery(fault.name, fault.target, accepting, delivering, away)
