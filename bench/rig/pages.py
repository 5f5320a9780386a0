"""A bench's page for people, and beside it the file for programs."""

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.rig.machine import describe
from infra.dev.paths import ROOT

RESULTS = ROOT / "var" / "bench"
DOCS = ROOT / "docs"


def whence() -> str:
    """The line of each page that says when, of what and where it was measured."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    commit = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return f"- {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, commit {commit}, {describe()}"


def in_words(noise: dict[str, float]) -> str:
    return f"others {noise['others_busy']:.0%}, spread {noise['lap_spread']}"


def keep(name: str, results: dict[str, Any], text: str, *, write: bool) -> None:
    """In docs only if it is to be written."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(results, indent=2))
    if write:
        page_of(name).write_text(text)
        print(f"written: docs/{page_of(name).name}")


def page_of(name: str) -> Path:
    return DOCS / ("performance.md" if name == "path" else f"performance-{name}.md")
