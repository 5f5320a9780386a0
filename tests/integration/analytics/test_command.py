"""`gatepost analytics` as an operator runs it: spark-submit, exit codes, what it says."""

import json
import os
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from analytics import commands, submit
from analytics.looks import see_nights
from analytics.nightly import utc_now
from analytics.settings import AnalyticsSettings, Spark
from gatepost.cli.doctor.look import State
from gatepost.cli.doctor.site import Part, Site
from gatepost.cli.failure import Failure
from gatepost.config.settings import load
from infra.dev.jvm import find_driver, find_java
from tests.integration.analytics.conftest import SHORT_LIVED, Ledger
from tests.integration.analytics.days import Message, at
from tests.integration.analytics.test_retention import publish

GATEPOST = Path(sys.executable).with_name("gatepost")
KILLED_MAIN = Path(__file__).with_name("killed_main.py")
PATIENCE = 120
DAY = timedelta(days=1)


def call(*command: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        env=environment_of_spark(),
        umask=submit.OURS_ALONE,
        timeout=PATIENCE,
    )


def environment_of_spark() -> dict[str, str]:
    return submit.environment(Spark(java_home=find_java()), os.environ)


def spark() -> dict[str, Any]:
    """As small as it can be."""
    options = f"{submit.UTC_OPTION} {SHORT_LIVED}"
    conf = {"spark.driver.extraJavaOptions": options, "spark.sql.shuffle.partitions": "1"}
    jar = str(find_driver())
    return {"jdbc_jar": jar, "driver_memory": "1g", "read_partitions": 1, "conf": conf}


def analytics(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return call(str(GATEPOST), "analytics", *arguments)


@pytest.fixture
def config(ledger: Ledger, tmp_path: Path) -> Path:
    tree: dict[str, Any] = {
        "environment": "development",
        "database": {"url": ledger.server.url("gatepost_analytics")},
        "source": {"url": ledger.server.url("gatepost_lake")},
        "lake": {"uri": ledger.uri},
        "spark": spark(),
        "metrics_folder": str(tmp_path),
    }
    file = tmp_path / "analytics.yaml"
    file.write_text(yaml.safe_dump(tree))
    return file


def kill_one(config: Path, place: Path) -> list[str]:
    """Its command. What it has made lies in the scratch folder, and nothing elsewhere."""
    (scratch := place / "scratch").mkdir(mode=0o700)
    (usual := place / "usual").mkdir()
    given = ["--config", str(config), "run"]
    command = submit.command(Spark(**spark()), place, scratch, given, progress=False)
    elsewhere = {"PLACES": str(place / "places.json"), "TMPDIR": str(usual)}
    environment = environment_of_spark() | elsewhere | submit.environment_in(scratch)
    for name in ("SPARK_LOCAL_DIRS", "SPARK_SUBMIT_OPTS"):  # of our own tests
        environment.pop(name, None)
    killed = subprocess.run(
        [str(KILLED_MAIN) if part == str(submit.MAIN) else part for part in command],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
        umask=submit.OURS_ALONE,
        timeout=PATIENCE,
        cwd=usual,
    )
    assert killed.returncode != 0
    assert (place / "places.json").exists(), killed.stdout + killed.stderr
    found = json.loads((place / "places.json").read_text())
    below = [Path(name) for name in (*found["would"], *found["have"])]
    assert [one for one in below if not one.is_relative_to(scratch)] == []
    left = [one for one in scratch.rglob("*") if one.is_dir()]
    assert any(one.name.startswith("blockmgr-") for one in left)
    assert [one for one in left if one.stat().st_mode & 0o077] == []
    assert list(usual.iterdir()) == []
    return command


def test_killed_while_it_publishes_and_run_again(
    ledger: Ledger, config: Path, tmp_path: Path
) -> None:
    yesterday = utc_now().date() - timedelta(days=1)
    ledger.put(Message(at(yesterday)), Message(at(yesterday), domain="other.example"))

    command = kill_one(config, tmp_path)
    assert ledger.rows("lake_manifest") == ledger.rows("report_days") == []
    said = analytics("status", "--json", "--config", str(config))
    assert [run["state"] for run in json.loads(said.stdout)["runs"]] == ["interrupted"]

    done = analytics("run", "--config", str(config))
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["event"] for one in events] == ["run.started", "day.published", "run.done"]
    assert events[-1]["rows"] == 2
    success = tmp_path / "gatepost_analytics_nightly_success.prom"
    assert 'gatepost_analytics_rows{kind="nightly"} 2.0' in success.read_text()
    assert success.stat().st_mode & 0o777 == 0o644
    assert open_to_others(ledger.folder / "lake") == []
    status = json.loads(analytics("status", "--json", "--config", str(config)).stdout)
    assert (status["published_until"], status["unusual"]) == (str(yesterday), [])
    assert 'gatepost_analytics_unusual{kind="nightly"} 0.0' in success.read_text()
    assert [run["state"] for run in status["runs"]] == ["done", "interrupted"]
    for secret in (ledger.server.url("gatepost_analytics"), ledger.server.url("gatepost_lake")):
        assert secret.split(":")[2].split("@")[0] not in done.stdout + done.stderr + str(command)


def test_messages_that_are_kept_too_briefly_are_refused_before_spark_starts(
    ledger: Ledger, config: Path, tmp_path: Path
) -> None:
    ledger.ask_to(
        "INSERT INTO domains (domain, max_undelivered, created_at, retention_days)"
        " VALUES ('short.example', 1, '2026-01-01', 5)"
    )
    try:
        said = analytics("run", "--config", str(config))
    finally:
        ledger.ask_to("DELETE FROM domains")
    assert said.returncode == 2
    assert "the ledger keeps some messages for 5 days, below 6" in said.stderr
    assert said.stdout == ""
    assert ledger.rows("lake_runs") == []
    told = (tmp_path / "gatepost_analytics_nightly_last_run.prom").read_text()
    assert 'gatepost_analytics_last_run_ok{kind="nightly"} 0.0' in told


def test_a_ledger_that_is_away_is_told_before_spark_starts(config: Path) -> None:
    tree = yaml.safe_load(config.read_text())
    tree["database"] = {"url": "mysql+pymysql://x:y@127.0.0.1:1/gatepost"}
    config.write_text(yaml.safe_dump(tree))
    said = analytics("run", "--config", str(config))
    assert said.returncode == 5
    assert "The ledger does not answer" in said.stderr
    assert said.stdout == ""


def open_to_others(lake: Path) -> list[str]:
    """Folders and files of the lake that somebody else could look into."""
    found = [lake, *lake.rglob("*")]
    assert any(one.suffix == ".parquet" for one in found)
    return [str(one) for one in found if one.stat().st_mode & 0o077]


def test_a_night_that_is_missing_is_an_exit_code(ledger: Ledger, config: Path) -> None:
    ledger.ask_to(
        "INSERT INTO lake_manifest VALUES"
        " ('2026-01-01', 'x', 1, 0, 0, '2026-01-02', '2026-01-02', NULL, 0, NULL, NULL, 0, 0)"
    )
    ledger.ask_to(
        "INSERT INTO report_anomalies VALUES"
        " ('2026-01-01', 'a.example', 'a.example:x', 'accepted', 3, 1200, 80, -15, 'x sent 3')"
    )
    said = analytics("status", "--config", str(config))
    assert said.returncode == 1
    assert "Unusual on 2026-01-01: x sent 3" in said.stdout
    assert "published until 2026-01-01" in said.stdout
    assert "nights missing, the first one after 2026-01-02" in said.stderr


def test_nights_that_are_missing_are_told_of_wherever_they_are(
    ledger: Ledger, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the command and by doctor: where none was ever published, and between others."""
    yesterday = utc_now().date() - DAY
    ledger.put(Message(at(yesterday - DAY * 20)))
    assert tell(config, capsys)[0] == str(yesterday - DAY * 20)
    for day in (yesterday - DAY * 3, yesterday):
        publish(ledger, day)
    assert tell(config, capsys) == [str(yesterday - DAY * 2), str(yesterday - DAY)]
    publish(ledger, yesterday - DAY * 2)
    assert tell(config, capsys) == [str(yesterday - DAY)]


def tell(config: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The days whose nights are missing."""
    part = Part("analytics", config, None, load(AnalyticsSettings, config))
    (found,) = see_nights(Site(config.parent, False, {"analytics": part}))
    with pytest.raises(Failure) as failure:
        commands.status(config, 5, json=True)
    assert (failure.value.kind, found.state) == ("fault", State.WRONG)
    assert failure.value.message.startswith(found.found)
    days: list[str] = json.loads(capsys.readouterr().out)["missing"]
    assert found.found == commands.tell_missing([date.fromisoformat(day) for day in days])
    return days


def test_what_can_not_be_used_is_told_before_spark_is_started(config: Path) -> None:
    tree = yaml.safe_load(config.read_text())
    cases: dict[str, Any] = {
        "libmariadb-java": {"spark": {"jdbc_jar": "/nowhere.jar"}},
        "max_lifetime_hours": {"days": {"extracted_again": 4}},
        "lake.uri": {"lake": {"uri": "relative/lake"}},
        "can only read": {"environment": "production", "source": None},
    }
    for words, change in cases.items():
        config.write_text(yaml.safe_dump({**tree, **change}))
        said = analytics("run", "--config", str(config))
        assert (said.returncode, words in said.stderr) == (2, True), (words, said.stderr)


def test_without_a_ledger_it_is_not_available(config: Path) -> None:
    tree = yaml.safe_load(config.read_text())
    tree["database"] = {"host": "127.0.0.1", "port": 1}
    config.write_text(yaml.safe_dump(tree))
    said = analytics("status", "--config", str(config))
    assert said.returncode == 5
    assert "The ledger does not answer" in said.stderr
