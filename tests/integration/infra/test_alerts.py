"""The alert rules that come with Gatepost, played by Prometheus's own checker."""

import re
import subprocess
from pathlib import Path

import pytest

from analytics.metrics import Metrics
from analytics.nightly import Done
from infra.dev.paths import ROOT
from infra.dev.prometheus import Program, find
from tests.integration.analytics.days import SEVENTH, night_after

RULES = ROOT / "infra" / "prometheus" / "analytics.rules.yaml"
PLAYED = Path(__file__).with_name("analytics.rules.test.yaml")


@pytest.fixture(scope="session")
def promtool() -> str:
    return str(find(Program.PROMTOOL))


@pytest.mark.parametrize(
    "command", [("check", "rules", "--lint-fatal", str(RULES)), ("test", "rules", str(PLAYED))]
)
def test_they_fire_when_they_must_and_not_before(promtool: str, command: tuple[str, ...]) -> None:
    said = subprocess.run([promtool, *command], check=False, capture_output=True, text=True)
    assert said.returncode == 0, said.stdout + said.stderr


def test_what_they_look_at_is_written_by_a_run(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path)
    metrics.succeeded("nightly", Done(), 1.0, to=night_after(SEVENTH))
    written = "".join(file.read_text() for file in tmp_path.glob("*.prom"))
    asked = set(re.findall(r"gatepost_analytics_\w+", RULES.read_text()))
    assert asked == {name for name in asked if f'{name}{{kind="nightly"}}' in written}
    metrics.failed("nightly", disagree=True, seconds=1.0)
    (last,) = tmp_path.glob("*last_run.prom")
    assert 'counts_disagree{kind="nightly"} 1.0' in last.read_text()
    assert 'last_run_ok{kind="nightly"} 0.0' in last.read_text()
