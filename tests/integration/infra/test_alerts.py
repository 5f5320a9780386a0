"""The rules that come with Gatepost, checked and played by Prometheus's own checker."""

import re
import subprocess
from pathlib import Path
from typing import Any

import yaml

from infra.dev.paths import ROOT
from infra.dev.prometheus import Program, find
from tests.rules import FILES, FOLDER, Alert, read_alerts

PLAYED: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("alerts.yaml").read_text())
ALERTS = {alert.name: alert for alert in read_alerts()}


def check(program: Program, *arguments: str | Path, folder: Path = ROOT) -> None:
    command = [str(find(program)), *map(str, arguments)]
    said = subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder)
    assert said.returncode == 0, said.stdout + said.stderr


def test_rules_and_configuration_are_valid() -> None:
    check(Program.PROMTOOL, "check", "rules", "--lint-fatal", *FILES)
    check(Program.PROMTOOL, "check", "config", "prometheus.yaml", folder=FOLDER)


def test_the_example_of_a_route_is_valid_and_tells_pages_from_tickets() -> None:
    check(Program.AMTOOL, "check-config", FOLDER / "alertmanager.yaml")
    for severity in {alert.severity for alert in ALERTS.values()}:
        routed = ("config", "routes", "test", f"--verify.receivers={severity}s")
        file = f"--config.file={FOLDER / 'alertmanager.yaml'}"
        check(Program.AMTOOL, *routed, file, f"severity={severity}")


def test_what_keeps_others_quiet_is_there() -> None:
    text = (FOLDER / "alertmanager.yaml").read_text()
    patterns = re.findall(r'alertname =~? "?([^"\]]+)', text)
    assert patterns
    assert [one for one in patterns if not any(re.fullmatch(one, name) for name in ALERTS)] == []


def test_each_is_played() -> None:
    assert PLAYED.keys() == ALERTS.keys()


def test_each_fires_when_it_must_and_not_before(tmp_path: Path) -> None:
    """Two runs of promtool for all, by their steps. What must not fire is played together."""
    for step in ("1m", "30m"):
        played = {name: play for name, play in PLAYED.items() if _step(play) == step}
        tests = [_fires(ALERTS[name], play) for name, play in played.items()]
        quiet = {series: one for play in played.values() for series, one in play["quiet"].items()}
        moments = [{"alertname": name, "eval_time": play["at"]} for name, play in played.items()]
        tests.append(_played(quiet, moments, step))
        file = tmp_path / f"{step}.test.yaml"
        document = {"rule_files": [str(one) for one in FILES], "tests": tests}
        file.write_text(yaml.safe_dump({"evaluation_interval": step, **document}))
        check(Program.PROMTOOL, "test", "rules", file)


def _step(play: dict[str, Any]) -> str:
    return "30m" if play["at"].endswith("h") else "1m"


def _fires(alert: Alert, play: dict[str, Any]) -> dict[str, Any]:
    said = {"summary": play["says"], "command": alert.command, "runbook": alert.runbook}
    fires = [
        {"exp_labels": {"severity": alert.severity, **play["labels"]}, "exp_annotations": said}
    ]
    at = {"alertname": alert.name, "eval_time": play["at"]}
    moments = [at | {"exp_alerts": fires}]
    if alert.waits:
        moments.append(at | {"eval_time": _before(alert.waits)})
    return _played(play["series"], moments, _step(play))


def _before(waits: str) -> str:
    """A moment when what it waits for can't be over yet."""
    minutes = int(waits[:-1]) * {"m": 1, "h": 60}[waits[-1]]
    return f"{minutes - 1}m"


def _played(series: dict[str, Any], moments: list[dict[str, Any]], step: str) -> dict[str, Any]:
    given = [{"series": name, "values": str(values)} for name, values in series.items()]
    return {"interval": step, "input_series": given, "alert_rule_test": moments}
