"""The rules for Prometheus that come with Gatepost, as programs read them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from infra.dev.paths import ROOT

FOLDER = ROOT / "infra" / "prometheus"
FILES = sorted(FOLDER.glob("*.rules.yaml"))


@dataclass(frozen=True, slots=True)
class Alert:
    name: str
    expr: str
    waits: str | None
    """How long it must have been so."""
    severity: str
    summary: str
    command: str
    runbook_url: str


@dataclass(frozen=True, slots=True)
class Recording:
    name: str
    expr: str


def read_rules(files: list[Path] | None = None) -> Iterator[Alert | Recording]:
    for file in files or FILES:
        for group in yaml.safe_load(file.read_text(encoding="utf-8"))["groups"]:
            yield from map(_read, group["rules"])


def read_alerts() -> list[Alert]:
    return [rule for rule in read_rules() if isinstance(rule, Alert)]


def _read(rule: dict[str, Any]) -> Alert | Recording:
    if "record" in rule:
        return Recording(rule["record"], rule["expr"])
    (severity,) = rule["labels"].values()
    waits, annotations = rule.get("for"), rule["annotations"]
    return Alert(rule["alert"], rule["expr"], waits, severity, **annotations)
