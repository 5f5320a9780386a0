"""The verdict: counts, lists, and each promise by its number. What the report is made from."""

import json
from bisect import bisect_right
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.chaos.checker.case import Case, Finding, open_case
from tests.chaos.checker.evidence import ACCEPTED, Evidence, read
from tests.chaos.checker.promises import PROMISES, Promise, excused

REASONS_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Judged:
    """Whether a promise held, by what that was judged, and what speaks against it."""

    name: str
    holds: bool
    seen: int
    judged_by: str
    reasons: list[str] = field(default_factory=list)

    @property
    def state(self) -> str:
        if not self.holds:
            return "BROKEN"
        return "holds" if self.seen else "not shown"


@dataclass(frozen=True, slots=True)
class Verdict:
    attempted: int
    """Messages posted, each post of it counted."""
    acknowledged: int
    """Messages with a 202."""
    delivered: int
    failed: int
    recovered: int
    """Delivered, though one store lacked it at its 202, an attempt had come to nothing, or a fault
    began before its delivery."""
    lost: list[str]
    duplicated: list[str]
    unexpected: list[str]
    stuck: list[str]
    exposed: list[str]
    late: list[str]
    promises: dict[str, Judged]

    @property
    def green(self) -> bool:
        """Nothing speaks against it, and there was something to judge."""
        return self.acknowledged > 0 and all(one.holds for one in self.promises.values())

    def line(self) -> str:
        """The line that matters."""
        return (
            f"acknowledged {self.acknowledged:,} · lost {len(self.lost)}"
            f" · twice {len(self.duplicated)} · stuck {len(self.stuck)}"
            f" · exposed {len(self.exposed)}"
        )

    def write(self, file: Path) -> None:
        told = {"green": self.green, "line": self.line(), **asdict(self)}
        file.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def judge(folder: Path) -> Verdict:
    return judge_evidence(read(folder))


def judge_evidence(evidence: Evidence) -> Verdict:
    case = open_case(evidence)
    found = {name: list(promise.broken_by(case)) for name, promise in PROMISES.items()}
    findings = [finding for one in found.values() for finding in one]
    return Verdict(
        attempted=len(evidence.posts),
        acknowledged=sum(bool(m.promised) for m in case.fates.messages.values()),
        delivered=sum(row.status == "delivered" for row in evidence.rows),
        failed=sum(row.status == "failed" for row in evidence.rows),
        recovered=_recovered(case),
        lost=_subjects(findings, "lost"),
        duplicated=_subjects(findings, "duplicated"),
        unexpected=_subjects(findings, "unexpected"),
        stuck=_subjects(findings, "stuck"),
        exposed=sorted(excused(case)),
        late=_subjects(findings, "late", "held up", "early"),
        promises={
            name: _judged(promise, found[name], promise.seen(case))
            for name, promise in PROMISES.items()
        },
    )


def _judged(promise: Promise, findings: list[Finding], seen: int) -> Judged:
    judged_by = f"{seen:,} {promise.of_what}"
    return Judged(promise.name, not findings, seen, judged_by, _told(findings))


def _subjects(findings: list[Finding], *kinds: str) -> list[str]:
    return sorted({finding.subject for finding in findings if finding.kind in kinds})


def _told(findings: list[Finding]) -> list[str]:
    told = [f"{one.kind}: {one.subject}: {one.why}" for one in findings[:REASONS_SHOWN]]
    more = len(findings) - len(told)
    return [*told, f"and {more:,} more"] if more else told


def _recovered(case: Case) -> int:
    begun = sorted(fault.begin_wall for fault in case.evidence.faults)
    accepted = {p.message_id: p for p in case.evidence.posts if p.outcome == ACCEPTED}
    count = 0
    for row in case.evidence.rows:
        post = accepted.get(row.message_id)
        if post is not None and row.delivered_ms is not None:
            since, until = row.queued_ms / 1000, row.delivered_ms / 1000
            befallen = bisect_right(begun, until) > bisect_right(begun, since)
            count += befallen or post.durability != "full" or row.attempt_count > 1
    return count
