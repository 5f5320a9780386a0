"""`gatepost config`: all that is wrong at once, where each value came from, nothing secret."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from gatepost.cli.configuring import disagreements
from gatepost.cli.main import run
from gatepost.config.settings import ENVIRONMENT_NAMES, load
from tests.backups import put_backup
from worker.settings import WorkerSettings

SECRET = "hunter2-canary-4711"
FILES = {"cert_file": "/none/a.pem", "key_file": "/none/a.key", "ca_file": "/none/ca.pem"}
CALLS = {"url": "https://127.0.0.1:8000", **FILES}
Said = tuple[int, str, str]
Ask = Callable[..., Said]


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
    monkeypatch.chdir(tmp_path)
    for name in (*ENVIRONMENT_NAMES, "CREDENTIALS_DIRECTORY"):
        monkeypatch.delenv(name, raising=False)

    def ask(command: str, *arguments: str) -> Said:
        code = run(["config", command, *arguments, "--folder", str(tmp_path / "etc")])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return ask


@pytest.fixture
def put(tmp_path: Path) -> Callable[..., Path]:
    def put(service: str, **tree: Any) -> Path:
        file = tmp_path / "etc" / service / "config.yaml"
        file.parent.mkdir(parents=True)
        file.write_text(yaml.safe_dump(tree))
        return file

    return put


def test_every_mistake_of_every_service_is_told(ask: Ask, put: Callable[..., Path]) -> None:
    put("worker", main_server=CALLS, worker={"concurrency": 0}, extra=1)
    put("portal", tls={"cert_file": "/none/b.pem", "key_file": "/none/b.key"}, main_server=CALLS)
    code, out, _ = ask("check")
    assert code == 2
    for words in ("worker.concurrency", "extra", "/none/b.pem", "/none/a.pem"):
        assert words in out
    code, out, _ = ask("check", "portal")
    assert "worker.concurrency" not in out


def test_services_that_do_not_go_together_are_told(ask: Ask, put: Callable[..., Path]) -> None:
    first = put("worker", main_server=CALLS, redis={"queue_name": "one"})
    one = load(WorkerSettings, first)
    other = one.model_copy(update={"redis": one.redis.model_copy(update={"queue_name": "two"})})
    told = list(disagreements({"a": one, "b": other}))
    assert len(told) == 2
    assert "a one, b two" in told[0]
    assert "a ops.port and b ops.port are the same: 9100" in told[1]


def test_where_nothing_is_it_says_so(ask: Ask) -> None:
    code, _, err = ask("check")
    assert code == 2
    assert "config.yaml" in err
    for service in ("proxy", "backup"):
        assert "No settings were found" in ask("show", service)[2]


def test_what_is_no_service_is_told(ask: Ask) -> None:
    assert ask("check", "nothing")[0] == 2
    assert "proxy" in ask("show", "nothing")[2]


def test_each_value_is_shown_with_where_it_came_from(
    ask: Ask, put: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = put("worker", main_server=CALLS, redis={"password": SECRET})
    monkeypatch.setenv("WORKER_CONCURRENCY", "3")
    code, out, err = ask("show", "worker", "--json")
    assert (code, err) == (0, "")
    rows = {row["name"]: row for row in map(json.loads, out.splitlines())}
    assert rows["worker.concurrency"]["value"] == 3
    assert rows["worker.concurrency"]["from"] == "environment, WORKER_CONCURRENCY"
    assert rows["main_server.url"]["from"] == str(file)
    assert rows["worker.retry"] == {"name": "worker.retry", "value": "fixed", "from": "default"}
    assert rows["redis.password"]["value"] == "********"
    assert rows["redis.url"]["value"] == ""
    assert SECRET not in ask("show", "worker")[1]


def test_what_can_not_be_used_is_not_shown_but_told(ask: Ask, put: Callable[..., Path]) -> None:
    put("worker", main_server=CALLS, redis={"password": [SECRET]})
    code, out, err = ask("show", "worker")
    assert code == 2
    assert "redis.password" in err
    assert SECRET not in out + err


def test_the_passphrase_of_the_backups_is_tried(
    ask: Ask, put: Callable[..., Path], tmp_path: Path
) -> None:
    """It is there, and it opens the newest backup."""
    secret, folder = tmp_path / "passphrase", tmp_path / "backups"
    store = {"folder": str(folder), "passphrase_file": str(secret)}
    put("backup", environment="development", store=store)
    for content, words in ((None, "can't be read"), ("short", "characters at least")):
        if content is not None:
            secret.write_text(content)
        code, out, _ = ask("check")
        assert (code, words in out) == (2, True), out
    secret.write_text("long and never said")
    assert ask("check")[0] == 0
    put_backup(folder, "long and never said", datetime(2026, 11, 19, tzinfo=UTC))
    assert ask("check")[0] == 0
    secret.write_text("long, and that of another")
    code, out, _ = ask("check")
    assert (code, "the passphrase is another" in out) == (2, True), out
    assert "never said" not in out


def test_a_bad_file_of_domains_is_told(ask: Ask, put: Callable[..., Path], tmp_path: Path) -> None:
    put("worker", main_server=CALLS)
    (tmp_path / "etc" / "domains.yaml").write_text(
        "domains: {a.example: {retention_days: 1}, b.example: {x: 1}}"
    )
    code, out, _ = ask("check")
    assert code == 2
    assert "a.example: retention_days" in out
    assert "b.example" in out
