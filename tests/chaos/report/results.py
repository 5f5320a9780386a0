"""The last results of each kind of run below `var/chaos`, as the reliability page wants them."""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.chaos.checker.evidence import read_faults
from tests.chaos.report.facts import Facts, read_facts

FULL_RUNS = 3


@dataclass(frozen=True, slots=True)
class Run:
    """A run that was judged."""

    facts: Facts
    seconds: float
    faults: Counter[str]
    verdict: dict[str, Any]


@dataclass(slots=True)
class Results:
    """What there is; what was never run is empty, and the page says so."""

    full: list[Run] = field(default_factory=list)
    powercuts: Run | None = None
    recovery: list[dict[str, Any]] = field(default_factory=list)
    outages: dict[str, dict[str, float]] = field(default_factory=dict)
    teeth: dict[str, Any] = field(default_factory=dict)


def read_results(folder: Path) -> Results:
    """Folders are called by time and kind, so that the last ones are the newest."""
    full = [_run(one) for one in _judged(folder, "chaos")]
    longest = max((run.seconds for run in full), default=0.0)
    cuts = _judged(folder, "powercuts")
    return Results(
        full=[run for run in full if run.seconds == longest][-FULL_RUNS:],
        powercuts=_run(cuts[-1]) if cuts else None,
        recovery=_last(folder, "recovery/recovery.json") or [],
        outages=_last(folder, "outages/outages.json") or {},
        teeth=_read(folder / "teeth.json") or {},
    )


def _judged(folder: Path, kind: str) -> list[Path]:
    return sorted(one.parent for one in folder.glob(f"*-{kind}-*/verdict.json"))


def _run(folder: Path) -> Run:
    lines = [json.loads(line) for line in (folder / "faults.jsonl").read_text().splitlines()]
    told = _read(folder / "run.json") or {}
    return Run(
        facts=read_facts(folder),
        seconds=float(told.get("seconds", 0)),
        faults=Counter(fault.name for fault in read_faults(lines)),
        verdict=_read(folder / "verdict.json"),
    )


def _last(folder: Path, name: str) -> Any:
    kind, _, file = name.partition("/")
    found = sorted(folder.glob(f"*-{kind}-*/{file}"))
    return _read(found[-1]) if found else None


def _read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None
