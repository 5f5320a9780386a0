"""`gatepost retention`: what it says, its exit codes and its metrics."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from sqlalchemy import text

from gatepost.cli.main import run
from infra.dev.engines import MariaServer
from main_server.keys.alone import alone
from main_server.retention.days import DAY
from main_server.retention.run import LOCK, AnotherRuns
from main_server.store.database import transact
from tests.integration.main_server.retention.conftest import OLD, RECENT, TODAY, Old


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out.splitlines()[-1])


class Command:
    """With one configuration for who sets, and one for who takes away."""

    def __init__(
        self, house: Old, server: MariaServer, capsys: pytest.CaptureFixture[str], **limits: Any
    ) -> None:
        self._capsys, self.folder = capsys, house.folder
        keys = {"master_key_file": str(house.file), "backup_file": str(house.folder / "b")}
        for name, user in (("main", "gatepost_main"), ("retention", "gatepost_retention")):
            tree = {
                "environment": "development",
                "database": {"url": server.url(user), "keys_schema": "gatepost_keys"},
                "keys": keys,
                "retention": {"wait_minutes": 0, "metrics_folder": str(house.folder), **limits},
            }
            (house.folder / f"{name}.yaml").write_text(yaml.safe_dump(tree))

    def __call__(self, *arguments: str) -> Said:
        deletes = arguments[0] in ("run", "prove", "status")
        config = self.folder / ("retention.yaml" if deletes else "main.yaml")
        code = run(["retention", *arguments, "--config", str(config)])
        captured = self._capsys.readouterr()
        return Said(code, captured.out, captured.err)

    def metric(self, file: str, name: str) -> float:
        text = (self.folder / f"gatepost_retention_{file}.prom").read_text()
        (line,) = [
            one for one in text.splitlines() if one.startswith(f"gatepost_retention_{name} ")
        ]
        return float(line.split()[1])


@pytest.fixture
def command(
    house: Old, retention_server: MariaServer, capsys: pytest.CaptureFixture[str]
) -> Command:
    return Command(house, retention_server, capsys)


def test_a_night(house: Old, command: Command) -> None:
    house.sent(house.a, OLD, 2)
    house.sent(house.b, RECENT)
    dry = command("run", "--dry-run")
    assert dry.code == 0
    assert f"{OLD}  {house.a.client_id}  2" in dry.out
    assert "2 messages and 1 data key would go" in dry.out
    planned = command("run", "--dry-run", "--json").json
    assert (planned["messages"], planned["keys"], planned["objections"]) == (2, 1, [])
    assert house.left(house.a) == {OLD: 2}
    done = command("run")
    assert (done.code, done.err) == (0, "")
    assert "2 messages and 1 data key have gone" in done.out
    assert "Nothing is left past its day." in done.out
    assert command("prove").code == 0
    assert command("status").code == 0
    assert "done" in command("status").out
    assert command.metric("success", "messages") == 2
    assert command.metric("proof", "left") == 0
    assert command.metric("last", "last_run_ok") == 1
    again = command("run", "--json").json
    assert (again["messages"], again["keys"], again["left"]) == (0, 0, [])


def test_what_is_left_is_said_loudly(house: Old, command: Command) -> None:
    house.sent(house.a, OLD)
    house.unseal(OLD)
    said = command("run")
    assert said.code == 1
    assert f"{house.a.client_id} {OLD}: 1 messages (the day was never sealed)" in said.err
    assert command.metric("proof", "left") == 2
    assert command.metric("last", "last_run_ok") == 0
    assert command("prove").code == 1
    assert command("status").code == 1


def test_what_is_doubtful_is_refused_and_confirmed_by_its_code(
    house: Old, retention_server: MariaServer, capsys: pytest.CaptureFixture[str]
) -> None:
    command = Command(house, retention_server, capsys, few_messages=0)
    house.sent(house.a, OLD)
    said = command("run")
    assert said.code == 3
    code = command("run", "--dry-run", "--json").json["code"]
    assert f"--confirm {code}" in said.err
    assert command("run", "--confirm", "00000000").code == 3
    assert command("run", "--confirm", code).code == 0


def test_what_has_come_due_by_a_change_is_the_next_runs(house: Old, command: Command) -> None:
    """A hold is lifted, and days are shortened: what the last run left is still as it should be."""
    client = house.a.client_id
    house.sent(house.a, OLD)
    house.sent(house.b, TODAY - 20 * DAY)
    held = command("hold", "--client", client, "--reason", "Case 4711", "--json").json["hold"]
    assert command("run", "--json").json["messages"] == 0
    assert f"{client} is on legal hold" in command("prove").out
    assert command("lift", held, "--reason", "closed").code == 0
    assert command("set", "--client", house.b.client_id, "--days", "15").code == 0
    said = command("prove")
    assert (said.code, said.err) == (0, "")
    assert f"{client} was on legal hold" in said.out
    assert command.metric("proof", "left") == 0
    assert command("run", "--json").json["messages"] == 2
    assert command("prove", "--json").json["kept"] == []


def test_a_run_that_is_yet_to_come_is_nothing_to_rely_on(house: Old, command: Command) -> None:
    assert command("run").code == 0
    later = "UPDATE retention_runs SET started_at = started_at + INTERVAL 2 DAY"
    transact(house.engine, lambda c: c.execute(text(later)))
    for asked in ("status", "prove"):
        said = command(asked)
        assert said.code == 1
        assert "a clock was ahead then" in said.err
    assert command("run").code == 3
    code = command("run", "--dry-run", "--json").json["code"]
    assert command("run", "--confirm", code).code == 0
    assert command("prove").code == command("status").code == 0


def test_without_a_backup_of_the_keys_the_proof_says_so(house: Old, command: Command) -> None:
    assert command("run").code == 0
    assert command("prove", "--json").json["unseen"] == []
    (house.folder / "b").unlink()
    said = command("prove")
    assert said.code == 0
    assert "no key backup was looked at" in said.out


def test_another_run_is_waited_for_by_who_calls(house: Old, command: Command) -> None:
    with alone(house.deleting, LOCK, AnotherRuns):
        said = command("run")
    assert said.code == 5
    assert "Another run" in said.err


def test_before_the_first_run_nothing_is_proven(command: Command) -> None:
    said = command("prove")
    assert said.code == 1
    assert "no whole run yet" in said.err


def test_holds_and_days_are_set_and_shown(house: Old, command: Command) -> None:
    client = house.a.client_id
    held = command("hold", "--client", client, "--reason", "Case 4711", "--json").json
    assert "Case 4711" in command("show").out
    assert command("show", "--client", client, "--json").json["holds"][0]["hold"] == held["hold"]
    assert command("lift", held["hold"], "--reason", "closed").code == 0
    assert command("lift", held["hold"], "--reason", "closed").code == 4
    assert command("lift", "what", "--reason", "closed").code == 4
    assert command("set", "--client", client, "--days", "10").code == 0
    assert "kept for 10 days" in command("show", "--client", client).out
    assert command("set", "--client", client, "--days", "5").code == 3
    assert command("set", "--client", client, "--days", "0").code == 0
    assert command("set", "--lake-days", "500").code == 0
    assert "The lake keeps days for 500 days" in command("show").out
    assert command("set", "--lake-days", "500", "--report-days", "400").code == 3
    for option in ("--lake-days", "--report-days"):
        for days in ("0", "29", "32768"):
            assert command("set", option, days).code == 3
    assert command("set", "--report-days", "32767").code == 0
    assert "500 days, reports for 32767" in command("show").out
    assert command("set").code == 2
    assert command("hold", "--reason", "x").code == 2
    assert command("show", "--domain", "nobody.example").code == 4


def test_a_configuration_that_is_none_is_said(command: Command, tmp_path: Path) -> None:
    (tmp_path / "retention.yaml").write_text("environment: development\n")
    assert command("run").code == 2
