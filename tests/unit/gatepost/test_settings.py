"""Settings: the design's names, every mistake at once, and no value ever repeated."""

from pathlib import Path
from typing import Any, TypeVar

import pytest
import yaml
from pydantic import ValidationError

from gatepost.config.settings import ENVIRONMENT_NAMES, ServiceSettings, load, misnamed
from gatepost.errors import ConfigurationError
from main_server.settings import DatabaseOnly, MainServerSettings, StoresOnly
from proxy.settings import ProxySettings
from worker.settings import WorkerSettings

S = TypeVar("S", bound=ServiceSettings)
Tree = dict[str, Any]

SECRET = "hunter2-canary"
FILES = {"cert_file": "/pki/a.pem", "key_file": "/pki/a.key", "ca_file": "/pki/ca.pem"}
PROXY: Tree = {
    "tls": FILES,
    "main_server": {"url": "https://127.0.0.1:8000", **FILES},
    "cache": {"folder": "/cache"},
}
WORKER: Tree = {"main_server": {"url": "https://127.0.0.1:8000", **FILES}}
MAIN: Tree = {"tls": FILES, "keys": {"master_key_file": "/k"}, "ca": {"folder": "/ca"}}


@pytest.fixture(autouse=True)
def nothing_around(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings but those of the test: an empty folder, none of the names set."""
    monkeypatch.chdir(tmp_path)
    for name in ENVIRONMENT_NAMES:
        monkeypatch.delenv(name, raising=False)


def written(tree: Tree | str) -> Path:
    file = Path("service.yaml")
    file.write_text(tree if isinstance(tree, str) else yaml.safe_dump(tree))
    return file


def with_(base: Tree, path: str, value: Any) -> Tree:
    """The tree with one value put in its place."""
    first, _, rest = path.partition(".")
    return base | {first: with_(base.get(first, {}), rest, value) if rest else value}


def at(settings: Any, path: str) -> Any:
    for part in path.split("."):
        settings = getattr(settings, part)
    return settings


@pytest.mark.parametrize(
    ("service", "base", "path", "value"),
    [
        (ProxySettings, PROXY, "server.host", "0.0.0.0"),
        (ProxySettings, PROXY, "server.port", 8443),
        (ProxySettings, PROXY, "server.workers", 4),
        (ProxySettings, PROXY, "redis.host", "redis.example"),
        (ProxySettings, PROXY, "redis.port", 6380),
        (ProxySettings, PROXY, "redis.queue_name", "message_queue"),
        (ProxySettings, PROXY, "tls.cert_file", Path("/x.pem")),
        (ProxySettings, PROXY, "tls.key_file", Path("/x.key")),
        (ProxySettings, PROXY, "tls.ca_file", Path("/x-ca.pem")),
        (ProxySettings, PROXY, "tls.verify_client", True),
        (ProxySettings, PROXY, "validation.phone_pattern", r"^\+[1-9]\d{1,14}$"),
        (ProxySettings, PROXY, "validation.max_body_length", 500),
        (ProxySettings, PROXY, "rate_limiting.enabled", False),
        (ProxySettings, PROXY, "rate_limiting.max_requests", 100),
        (ProxySettings, PROXY, "rate_limiting.window_seconds", 60),
        (ProxySettings, PROXY, "main_server.url", "https://main.example:8000"),
        (ProxySettings, PROXY, "main_server.timeout", 5.0),
        (WorkerSettings, WORKER, "worker.concurrency", 8),
        (WorkerSettings, WORKER, "worker.retry_interval", 30.0),
        (WorkerSettings, WORKER, "worker.max_attempts", 10_000),
        (MainServerSettings, MAIN, "server.port", 8000),
        (MainServerSettings, MAIN, "tls.verify_client", True),
    ],
)
def test_the_designs_sections_are_accepted(
    service: type[ServiceSettings], base: Tree, path: str, value: Any
) -> None:
    plain = str(value) if isinstance(value, Path) else value
    tree = base | {"server": {"port": 8001}} if path.startswith("server") else base
    assert at(load(service, written(with_(tree, path, plain))), path) == value


@pytest.mark.parametrize(
    ("service", "base", "name", "value", "path", "read"),
    [
        (MainServerSettings, MAIN, "DB_HOST", "db.example", "database.host", "db.example"),
        (MainServerSettings, MAIN, "DB_PORT", "3307", "database.port", 3307),
        (MainServerSettings, MAIN, "DB_NAME", "ledger", "database.name", "ledger"),
        (MainServerSettings, MAIN, "DB_USER", "somebody", "database.user", "somebody"),
        (ProxySettings, PROXY, "REDIS_HOST", "redis.example", "redis.host", "redis.example"),
        (ProxySettings, PROXY, "REDIS_PORT", "6380", "redis.port", 6380),
        (MainServerSettings, MAIN, "AES_KEY_PATH", "/key", "keys.master_key_file", Path("/key")),
        (ProxySettings, PROXY, "MAIN_SERVER_URL", "https://m:1", "main_server.url", "https://m:1"),
        (WorkerSettings, WORKER, "WORKER_CONCURRENCY", "7", "worker.concurrency", 7),
    ],
)
def test_the_designs_environment_names_are_accepted_and_stand_over_the_file(
    monkeypatch: pytest.MonkeyPatch,
    service: type[ServiceSettings],
    base: Tree,
    name: str,
    value: str,
    path: str,
    read: Any,
) -> None:
    file = written(base)
    assert at(load(service, file), path) != read
    monkeypatch.setenv(name, value)
    assert at(load(service, file), path) == read


def test_a_name_that_is_typed_almost_right_is_told_with_the_right_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tree = with_(MAIN, "database.hots", "x") | {"sever": {}}
    with pytest.raises(ConfigurationError) as refused:
        load(MainServerSettings, written(tree))
    said = refused.value.detail
    assert "database.hots: is not a field that is known here; did you mean host?" in said
    assert "sever: is not a field that is known here; did you mean server?" in said
    assert "Extra inputs" not in said
    found = misnamed(["DB_HOTS", "DATABASE_URLS", "DB", "REDIS", "PATH", "DB_HOST", "b\n_host"])
    assert [words.split()[0] for words in found] == ["DATABASE_URLS", "DB_HOTS"]
    assert found[1].endswith("did you mean DB_HOST?")


def test_names_of_other_services_are_let_be(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ENVIRONMENT_NAMES:
        if name.startswith(("DB_", "DATABASE", "AES", "WORKER", "PROXY")):
            monkeypatch.setenv(name, "x")
    load(ProxySettings, written(PROXY))


def test_the_database_is_a_url_or_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = {"host": "db", "port": 3307, "user": "u", "password": "p@:/w", "name": "n"}
    url = load(DatabaseOnly, written({"database": parts})).database.address()
    assert (url.host, url.port, url.username, url.password, url.database) == (
        "db",
        3307,
        "u",
        "p@:/w",
        "n",
    )
    monkeypatch.setenv("DATABASE_URL", "mysql+pymysql://a:b@c:1/d")
    given = load(DatabaseOnly, None).database.address()
    assert given.render_as_string(hide_password=False) == "mysql+pymysql://a:b@c:1/d"
    monkeypatch.delenv("DATABASE_URL")
    monkeypatch.setenv("DB_HOST", "db")
    monkeypatch.setenv("DB_PASSWORD", SECRET)
    assert load(DatabaseOnly, None).database.address().password == SECRET


def test_without_a_file_no_store_is_looked_for_where_nobody_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DB_PASSWORD", SECRET)
    with pytest.raises(ConfigurationError, match="where is it") as told:
        load(StoresOnly, None)
    assert SECRET not in told.value.detail
    for words in ("database", "DATABASE_URL", "DB_HOST", "redis", "REDIS_URL", "REDIS_HOST"):
        assert words in told.value.detail
    monkeypatch.setenv("DATABASE_URL", "mysql+pymysql://a:b@c:1/d")
    monkeypatch.delenv("DB_PASSWORD")
    with pytest.raises(ConfigurationError, match="redis"):
        load(StoresOnly, None)
    monkeypatch.setenv("REDIS_HOST", "r")
    assert load(StoresOnly, None).redis.host == "r"


def test_redis_is_a_url_or_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = with_(PROXY, "redis", {"host": "r", "port": 1})
    assert load(ProxySettings, written(parts)).redis.address() == "redis://r:1/0"
    monkeypatch.setenv("REDIS_URL", "redis://u:p@h:2/0")
    assert load(ProxySettings, written(PROXY)).redis.address() == "redis://u:p@h:2/0"


@pytest.mark.parametrize(
    ("service", "tree"),
    [
        (ProxySettings, PROXY | {"redis": {"url": "redis://h/0", "host": "other"}}),
        (DatabaseOnly, {"database": {"url": "mysql+pymysql://h/d", "host": "other"}}),
        (DatabaseOnly, {"database": {"url": "mysql+pymysql://h/d", "password": SECRET}}),
    ],
)
def test_a_url_and_parts_that_it_would_hide_are_refused(
    service: type[ServiceSettings], tree: Tree
) -> None:
    with pytest.raises(ConfigurationError, match="url"):
        load(service, written(tree))


def test_a_dotenv_file_stands_over_yaml_and_under_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path(".env").write_text("WORKER_CONCURRENCY=5\nMAIN_SERVER_URL=https://from-dotenv\n")
    monkeypatch.setenv("WORKER_CONCURRENCY", "6")
    found = load(WorkerSettings, written(with_(WORKER, "worker.concurrency", 4)))
    assert found.worker.concurrency == 6
    assert found.main_server.url == "https://from-dotenv"


def test_variables_are_filled_in_wherever_a_string_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PKI", "/etc/pki")
    monkeypatch.setenv("PW", "s3cr3t")
    monkeypatch.setenv("PORT_", "8443")
    tree = PROXY | {
        "tls": {name: f"${{PKI}}/{name}" for name in FILES},
        "redis": {"url": "redis://u:${PW}@h:1/0"},
        "server": {"port": "${PORT_}"},
    }
    found = load(ProxySettings, written(tree))
    assert found.tls.cert_file == Path("/etc/pki/cert_file")
    assert found.redis.address() == "redis://u:s3cr3t@h:1/0"
    assert found.server.port == 8443


def test_a_variables_value_is_not_expanded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PW", "${HOME}")
    tree = with_(PROXY, "redis.url", "redis://u:${PW}@h:1/0")
    assert load(ProxySettings, written(tree)).redis.address() == "redis://u:${HOME}@h:1/0"


def test_variables_that_are_not_set_are_all_named() -> None:
    tree = PROXY | {"redis": {"host": "${NOT_SET_A}"}, "server": {"port": "${NOT_SET_B}"}}
    with pytest.raises(ConfigurationError, match="NOT_SET_A, NOT_SET_B"):
        load(ProxySettings, written(tree))


def test_all_mistakes_are_told_at_once() -> None:
    tree = {
        "environment": "testing",
        "server": {"port": 70_000, "workers": 0},
        "tls": {"cert_file": "/a"},
        "main_server": {"url": "http://plain", "timeout": 0, **FILES},
        "redis": {"port": "many"},
        "validation": {"phone_pattern": "(", "max_body_length": 0},
        "nothing": {"like": "this"},
    }
    with pytest.raises(ConfigurationError) as refused:
        load(ProxySettings, written(tree))
    for place in (
        "environment",
        "server.port",
        "server.workers",
        "tls.key_file",
        "tls.ca_file",
        "main_server.url",
        "main_server.timeout",
        "redis.port",
        "validation.phone_pattern",
        "validation.max_body_length",
        "nothing",
    ):
        assert f"  {place}: " in str(refused.value)


@pytest.mark.parametrize(
    "url", [f"nonsense {SECRET}", f"http://{SECRET}@h", f"redis://u:{SECRET}@h:port/0", SECRET]
)
def test_what_is_not_a_redis_url_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ConfigurationError, match=r"  redis: ") as refused:
        load(ProxySettings, written(with_(PROXY, "redis.url", url)))
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    "tree",
    [
        {"database": {"url": f"not a url {SECRET}"}},
        {"database": {"url": f"mysql+pymysql://u:{SECRET}@h:port/d"}},
        {"database": {"url": f"postgresql://u:{SECRET}@h/d"}},
        {"database": {"url": [SECRET]}},
        {"database": {"password": {"is": SECRET}}},
        {"database": {"password": 12, "host": {"x": SECRET}}},
        {"database": {"keys_schema": f"a`;{SECRET}"}},
        {"database": SECRET},
        {"environment": SECRET},
        {"log": {"level": SECRET}},
    ],
)
def test_a_value_is_never_repeated(tree: Tree) -> None:
    with pytest.raises(ConfigurationError) as refused:
        load(DatabaseOnly, written(tree))
    assert SECRET not in str(refused.value)
    assert SECRET not in repr(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        f"a: [{SECRET}",
        f"\t- {SECRET}: :",
        f"- {SECRET}",
        SECRET,
        "",
        f"!!python/object/apply:os.system ['echo {SECRET}']",
    ],
)
def test_what_is_not_a_mapping_in_yaml_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"service\.yaml") as refused:
        load(DatabaseOnly, written(text))
    assert SECRET not in str(refused.value)


def test_a_file_that_can_not_be_read_says_why(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="No such file"):
        load(DatabaseOnly, tmp_path / "none.yaml")
    (tmp_path / "bad.yaml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigurationError, match="not UTF-8"):
        load(DatabaseOnly, tmp_path / "bad.yaml")


def test_secrets_are_shown_nowhere() -> None:
    tree = {"database": {"url": f"mysql+pymysql://u:{SECRET}@h:1/d"}}
    found = load(DatabaseOnly, written(tree))
    assert SECRET not in repr(found)
    assert SECRET not in str(found.database)
    assert SECRET not in found.model_dump_json()
    assert SECRET not in str(found.database.address())


def test_nor_is_it_by_pydantic_itself() -> None:
    with pytest.raises(ValidationError) as refused:
        DatabaseOnly.model_validate({"database": {"url": [SECRET]}, "environment": SECRET})
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("environment", ["production", "development"])
@pytest.mark.parametrize("value", [False, "false", "no", 0])
def test_clients_are_always_verified(environment: str, value: Any) -> None:
    tree = with_(PROXY, "tls.verify_client", value) | {"environment": environment}
    with pytest.raises(ConfigurationError, match=r"tls\.verify_client"):
        load(ProxySettings, written(tree))


@pytest.mark.parametrize(
    "url",
    ["http://h", "https://", "https://h/path", "ftp://h", "h:8000", " https://h", "https://h\n"],
)
def test_the_main_server_is_called_by_https_alone(url: str) -> None:
    with pytest.raises(ConfigurationError, match=r"main_server\.url"):
        load(ProxySettings, written(with_(PROXY, "main_server.url", url)))


def test_production_is_what_one_gets_who_says_nothing() -> None:
    assert load(ProxySettings, written(PROXY)).environment == "production"


def test_settings_can_not_be_changed() -> None:
    found = load(ProxySettings, written(PROXY))
    with pytest.raises(ValueError, match="frozen"):
        found.environment = "development"
