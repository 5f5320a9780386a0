"""Judges a run and writes all that is said of it: verdict.json, report.txt, report.html."""

from pathlib import Path

from tests.chaos.checker.evidence import read
from tests.chaos.checker.verdict import Verdict, judge_evidence
from tests.chaos.report import page, text
from tests.chaos.report.facts import read_facts
from tests.chaos.report.series import series_of


def write_report(folder: Path) -> Verdict:
    evidence = read(folder)
    verdict = judge_evidence(evidence)
    facts, series = read_facts(folder), series_of(evidence)
    verdict.write(folder / "verdict.json")
    (folder / "report.txt").write_text(text.render(facts, series, verdict), encoding="utf-8")
    (folder / "report.html").write_text(page.render(facts, series, verdict), encoding="utf-8")
    return verdict
