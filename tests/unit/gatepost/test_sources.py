"""Where settings come from: which of several counts, and that it can be told."""

import os
from pathlib import Path

import pytest
import yaml

from gatepost.config.settings import ENVIRONMENT_NAMES, load, load_with_origins
from gatepost.errors import ConfigurationError
from main_server.settings import DatabaseOnly, MainServerSettings
from proxy.settings import ProxySettings
from tests.unit.gatepost.test_settings import FILES, MAIN, PROXY, WORKER, Tree, with_
from worker.settings import WorkerSettings

SECRET = "hunter2-canary"


@pytest.fixture(autouse=True)
def nothing_around(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (*ENVIRONMENT_NAMES, "CREDENTIALS_DIRECTORY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def credentials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What systemd hands on."""
    folder = tmp_path / "run" / "credentials"
    folder.mkdir(parents=True)
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(folder))
    return folder


def written(tree: Tree, file: str = "service.yaml") -> Path:
    Path(file).parent.mkdir(exist_ok=True)
    Path(file).write_text(yaml.safe_dump(tree))
    return Path(file)


def test_a_secret_is_what_its_credential_holds(credentials: Path) -> None:
    (credentials / "database.password").write_text(f"{SECRET}\n")
    (credentials / "redis.password").write_text("p@:/w")
    found = load(MainServerSettings, written(with_(MAIN, "redis.user", "main")))
    assert found.database.address().password == SECRET
    assert found.redis.address() == "redis://main:p%40%3A%2Fw@127.0.0.1:6379/0"


def test_credentials_that_it_is_told_of_and_may_not_look_at_are_left(
    credentials: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a unit's ExecStop. Root may look everywhere, so the test says that it may not."""

    def refused(_file: Path) -> bool:
        raise PermissionError(credentials)

    monkeypatch.setattr(os, "access", lambda place, _mode: place != credentials)
    monkeypatch.setattr(Path, "is_file", refused)
    found = load(MainServerSettings, written(with_(MAIN, "database.password", "of the file")))
    assert found.database.address().password == "of the file"


def test_a_file_is_where_its_credential_is(credentials: Path) -> None:
    (credentials / "keys.master_key_file").write_bytes(bytes(32))
    found = load(MainServerSettings, written(MAIN))
    assert found.keys.master_key_file == credentials / "keys.master_key_file"
    assert found.tls.key_file == Path(FILES["key_file"]), "that one was not handed on"


def test_a_credential_stands_over_the_environment_and_that_over_the_file(
    credentials: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(with_(MAIN, "database.password", "of the file"))
    monkeypatch.setenv("DB_PASSWORD", "of the environment")
    settings, origins = load_with_origins(MainServerSettings, file)
    assert settings.database.address().password == "of the environment"
    assert origins["database.password"] == "environment, DB_PASSWORD"
    (credentials / "database.password").write_text("handed on")
    settings, origins = load_with_origins(MainServerSettings, file)
    assert settings.database.address().password == "handed on"
    assert origins["database.password"].startswith("credential")


def test_commands_find_them_beside_the_file(tmp_path: Path) -> None:
    file = written({"database": {"host": "db"}}, "main_server/config.yaml")
    (file.parent / "credentials").mkdir()
    (file.parent / "credentials" / "database.password").write_text(SECRET)
    assert load(DatabaseOnly, file).database.address().password == SECRET


def test_whoever_may_not_look_there_does_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written({"database": {"host": "db"}}, "main_server/config.yaml")
    (file.parent / "credentials").mkdir()
    (file.parent / "credentials" / "database.password").write_text(SECRET)
    monkeypatch.setattr("gatepost.config.sources._may_look", lambda _: False)
    assert load(DatabaseOnly, file).database.address().password == ""


def test_what_is_no_setting_of_ours_is_let_be(credentials: Path) -> None:
    (credentials / "users.acl").write_text("x")
    (credentials / "worker.concurrency").write_text("9")
    assert load(WorkerSettings, written(WORKER)).worker.concurrency == 4


def test_a_credential_beside_a_url_that_would_hide_it_is_refused(credentials: Path) -> None:
    (credentials / "redis.password").write_text(SECRET)
    with pytest.raises(ConfigurationError, match="url or password") as refused:
        load(ProxySettings, written(with_(PROXY, "redis.url", "redis://h/0")))
    assert SECRET not in str(refused.value)


def test_of_each_value_it_is_known_where_it_came_from(monkeypatch: pytest.MonkeyPatch) -> None:
    Path(".env").write_text("MAIN_SERVER_URL=https://from-dotenv\n")
    monkeypatch.setenv("WORKER_CONCURRENCY", "6")
    monkeypatch.setenv("PLACE", "redis.example")
    tree = with_(with_(WORKER, "redis.host", "${PLACE}"), "worker.max_attempts", 5)
    _, origins = load_with_origins(WorkerSettings, written(tree))
    assert origins["worker.concurrency"] == "environment, WORKER_CONCURRENCY"
    assert origins["main_server.url"] == ".env, MAIN_SERVER_URL"
    assert origins["redis.host"] == "service.yaml, $PLACE"
    assert origins["worker.max_attempts"] == "service.yaml"
    assert "worker.retry" not in origins


def test_an_instance_has_its_ports_further_up() -> None:
    first = load(ProxySettings, written(PROXY))
    third = first.of_instance(3)
    assert first.of_instance(1) == first
    assert (third.server.port, third.ops.port) == (first.server.port + 20, first.ops.port + 20)
    assert third.server.workers == first.server.workers
    assert third.redis == first.redis
