"""The rules that come with Gatepost, checked and played by Prometheus's own checker: those of its
wheel, as whoever has installed it finds them.
"""

import re
import subprocess
import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from infra.dev.commands.build import build
from infra.dev.paths import ROOT
from infra.dev.prometheus import Program, find
from tests.rules import FILES, FOLDER, Alert, read_alerts

PLAYED: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("alerts.yaml").read_text())
ALERTS = {alert.name: alert for alert in read_alerts()}
SHIPPED = "gatepost/install/shipped/"
RUNBOOK = "https://docs.example.com/runbook.html"


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What comes along in the wheel, as it is on a machine."""
    folder = tmp_path_factory.mktemp("release")
    with zipfile.ZipFile(build(ROOT, folder)) as wheel:
        wheel.extractall(folder, [name for name in wheel.namelist() if name.startswith(SHIPPED)])
        licences = [name for name in wheel.namelist() if name.endswith("/licenses/LICENSE")]
    assert len(licences) == 1
    return folder / SHIPPED


def rules_in(folder: Path) -> list[Path]:
    return sorted((folder / "prometheus").glob("*.rules.yaml"))


def check(program: Program, *arguments: str | Path, folder: Path = ROOT) -> None:
    command = [str(find(program)), *map(str, arguments)]
    said = subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder)
    assert said.returncode == 0, said.stdout + said.stderr


def test_rules_and_configuration_are_valid(shipped: Path) -> None:
    check(Program.PROMTOOL, "check", "rules", "--lint-fatal", *rules_in(shipped))
    check(Program.PROMTOOL, "check", "config", "prometheus.yaml", folder=shipped / "prometheus")


def test_a_release_has_what_those_who_run_it_are_given(shipped: Path) -> None:
    assert [file.name for file in rules_in(shipped)] == [file.name for file in FILES]
    for place in ("prometheus", "grafana/dashboards", "docs"):
        here = ROOT / (place if place == "docs" else f"infra/{place}")
        names = {str(file.relative_to(here)) for file in here.rglob("*") if file.is_file()}
        names = {name for name in names if "__pycache__" not in name}
        there = shipped / place
        found = {str(file.relative_to(there)) for file in there.rglob("*") if file.is_file()}
        assert found == names
    for name in ("haproxy.cfg", "replicated.cnf", "my.cnf", "grafana/provisioning.yaml"):
        assert (shipped / name).read_bytes() == (ROOT / "infra" / name).read_bytes()


def test_links_to_the_runbook_are_absolute_by_a_setting() -> None:
    said = yaml.safe_load((FOLDER / "prometheus.yaml").read_text())
    assert urlsplit(said["global"]["external_labels"]["runbook"]).scheme == "https"


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


def test_each_fires_when_it_must_and_not_before(shipped: Path, tmp_path: Path) -> None:
    """Two runs of promtool for all, by their steps. What must not fire is played together."""
    for step in ("1m", "30m"):
        played = {name: play for name, play in PLAYED.items() if _step(play) == step}
        tests = [_fires(ALERTS[name], play) for name, play in played.items()]
        quiet = {series: one for play in played.values() for series, one in play["quiet"].items()}
        moments = [{"alertname": name, "eval_time": play["at"]} for name, play in played.items()]
        tests.append(_played(quiet, moments, step))
        file = tmp_path / f"{step}.test.yaml"
        document = {"rule_files": [str(one) for one in rules_in(shipped)], "tests": tests}
        file.write_text(yaml.safe_dump({"evaluation_interval": step, **document}))
        check(Program.PROMTOOL, "test", "rules", file)


def _step(play: dict[str, Any]) -> str:
    return "30m" if play["at"].endswith("h") else "1m"


def _fires(alert: Alert, play: dict[str, Any]) -> dict[str, Any]:
    url = alert.runbook_url.replace("{{ $externalLabels.runbook }}", RUNBOOK)
    said = {"summary": play["says"], "command": alert.command, "runbook_url": url}
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
    labels = {"runbook": RUNBOOK}
    series = {"interval": step, "input_series": given, "external_labels": labels}
    return series | {"alert_rule_test": moments}
