"""The report as text: for terminals and logs."""

from tests.chaos.checker.verdict import Verdict
from tests.chaos.report.facts import Facts
from tests.chaos.report.series import Series, percentile


def render(facts: Facts, series: Series, verdict: Verdict) -> str:
    counts = ", ".join(f"{name} {count}" for name, count in sorted(series.faults.items()))
    parts = [
        f"Seed {facts.seed}, commit {facts.commit}, {facts.started}",
        f"{facts.machine}; {facts.where}",
        "",
        f"{series.seconds} s, {sum(series.faults.values())} faults: {counts or 'none'}",
        rates(series),
        counted(verdict),
        "",
        *(_promise(name, verdict) for name in verdict.promises),
        "",
        "green" if verdict.green else "RED",
        verdict.line(),
    ]
    return "\n".join(parts) + "\n"


def rates(series: Series) -> str:
    p50 = percentile([one for one in series.p50_ms if one is not None], 0.5) or 0
    p99 = percentile([one for one in series.p99_ms if one is not None], 0.5) or 0
    rate = sum(series.accepted) / max(1, series.seconds)
    return (
        f"accepted {rate:,.0f}/s on average; of the typical second p50 {p50:.0f} ms, p99 {p99:.0f}"
        f" ms; declined {sum(series.declined):,}, outcome unknown {sum(series.unknown):,}"
    )


def counted(verdict: Verdict) -> str:
    return (
        f"attempted {verdict.attempted:,}, acknowledged {verdict.acknowledged:,},"
        f" delivered {verdict.delivered:,}, failed {verdict.failed:,},"
        f" recovered {verdict.recovered:,}, unexpected {len(verdict.unexpected):,},"
        f" late {len(verdict.late):,}"
    )


def _promise(name: str, verdict: Verdict) -> str:
    one = verdict.promises[name]
    head = f"{name:8}{one.state:10} {one.name} ({one.judged_by})"
    return "\n".join([head, *(f"        {reason}" for reason in one.reasons)])
