"""What a run of `./dev hostile` has seen, as a chapter of docs/security.md."""

from typing import TYPE_CHECKING

from bench.rig.pages import whence
from infra.dev.paths import ROOT

if TYPE_CHECKING:
    from tests.hostile.run import Outcome

PAGE = ROOT / "docs" / "security.md"
BEGIN, END = "<!-- written by ./dev hostile --write -->", "<!-- until here -->"


def write_into(outcome: "Outcome") -> None:
    """Replace the chapter between the two marks."""
    text = PAGE.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    PAGE.write_text(
        f"{head}{BEGIN}\n\n{render(outcome)}\n{END}{rest.partition(END)[2]}", encoding="utf-8"
    )
    print(f"written: {PAGE.relative_to(ROOT)}")


def render(outcome: "Outcome") -> str:
    verdict = "RED" if outcome.wrong else "no fault of ours"
    lines = [
        f"{outcome.inputs:,} inputs by seed {outcome.seed}: {verdict},"
        f" {len(outcome.deaths)} processes died. A good partner posted 20 times a second meanwhile;"
        f" alone, 99 % of its posts took {outcome.quiet_p99_ms} ms at the most.",
        "",
        "| hostile | inputs | 5xx but 503 | otherwise than promised | seconds"
        " | good partner's p99, ms | measured |",
        "|---|---|---|---|---|---|---|",
    ]
    for phase in outcome.phases:
        answers = phase.part.answers
        figures = "; ".join(f"{name} {figure}" for name, figure in phase.part.figures.items())
        cells = [
            phase.part.name,
            f"{phase.part.inputs:,}",
            str(answers.faults),
            str(len(answers.wrong)),
        ]
        cells += [f"{phase.seconds:.0f}", str(phase.p99_ms), figures]
        lines.append("| " + " | ".join(cells) + " |")
    told = ", ".join(
        f"{name} {outcome.memory_before[name] // 1024} → {kib // 1024} MiB"
        for name, kib in outcome.memory_after.items()
    )
    return "\n".join([*lines, "", f"Memory at the most: {told}.", "", whence(), ""])
