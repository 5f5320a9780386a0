"""What a figure depends on beside the program: `run.json`, written as a run begins."""

import json
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.rig.machine import describe
from infra.dev.paths import ROOT

FILE = "run.json"


@dataclass(frozen=True, slots=True)
class Facts:
    seed: str
    commit: str
    machine: str
    started: str
    where: str


def write_facts(folder: Path, *, seed: int, where: str, **more: Any) -> None:
    """`where` says how it ran: "network namespaces, one disk for both stores", "loopback" …"""
    told = {
        "seed": seed,
        "commit": commit(),
        "machine": describe(),
        "started": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "where": where,
        **more,
    }
    (folder / FILE).write_text(json.dumps(told, indent=1))


def read_facts(folder: Path) -> Facts:
    file = folder / FILE
    told = json.loads(file.read_text()) if file.exists() else {}
    if "begun" in told:
        told["started"] = f"{datetime.fromtimestamp(told['begun'], UTC):%Y-%m-%d %H:%M} UTC"
    return Facts(*(str(told.get(name, "not noted")) for name in Facts.__slots__))


def commit() -> str:
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
