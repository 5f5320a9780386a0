"""A run second by second, by its clients' clock: what was accepted, how fast, what was broken."""

from collections import Counter
from dataclasses import dataclass, field

from tests.chaos.checker.evidence import ACCEPTED, DECLINED, UNKNOWN, Evidence

NS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Bar:
    """A fault on the time line, in seconds since the first post."""

    name: str
    target: str
    begin: float
    end: float
    destroyed: bool


@dataclass(slots=True)
class Series:
    seconds: int
    accepted: list[int] = field(default_factory=list)
    declined: list[int] = field(default_factory=list)
    unknown: list[int] = field(default_factory=list)
    p50_ms: list[float | None] = field(default_factory=list)
    p99_ms: list[float | None] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)

    @property
    def faults(self) -> Counter[str]:
        return Counter(bar.name for bar in self.bars)


def series_of(evidence: Evidence) -> Series:
    if not evidence.posts:
        return Series(0)
    start = min(post.asked for post in evidence.posts)
    end = max(post.answered or post.asked for post in evidence.posts)
    found = Series((end - start) // NS + 1)
    counts: dict[str, Counter[int]] = {name: Counter() for name in (ACCEPTED, DECLINED, UNKNOWN)}
    waits: list[list[float]] = [[] for _ in range(found.seconds)]
    heard: set[str] = set()
    for post in evidence.posts:
        second = ((post.answered or post.asked) - start) // NS
        if post.outcome in counts:
            counts[post.outcome][second] += 1
        if post.outcome == ACCEPTED and post.answered and post.op not in heard:
            heard.add(post.op)
            waits[second].append((post.answered - post.asked) / 1e6)
    found.accepted, found.declined, found.unknown = (
        [counts[name][second] for second in range(found.seconds)]
        for name in (ACCEPTED, DECLINED, UNKNOWN)
    )
    found.p50_ms = [percentile(one, 0.50) for one in waits]
    found.p99_ms = [percentile(one, 0.99) for one in waits]
    found.bars = [
        Bar(f.name, f.target, (f.begin - start) / NS, (f.end - start) / NS, f.destroyed)
        for f in evidence.faults
    ]
    return found


def percentile(values: list[float], share: float) -> float | None:
    ordered = sorted(values)
    return ordered[int(share * (len(ordered) - 1))] if ordered else None
