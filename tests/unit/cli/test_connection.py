"""Where the settings come from: the first place that has one, and a pair from one place only."""

import json
import os
from pathlib import Path

import pytest

from gatepost.cli.connection import Connection, Place, find_connection, resolve
from gatepost.cli.failure import Failure
from gatepost.cli.options import Options
from tests.unit.cli.conftest import Command

FULL = {"url": "https://a", "ca": "ca", "cert": "cert", "key": "key"}


def options(**given: str) -> Options:
    paths = {name: Path(given[name]) if name in given else None for name in ("ca", "cert", "key")}
    files = paths["ca"], paths["cert"], paths["key"]
    return Options(given.get("url"), *files, 0, False, False, given.get("proxy"))


def find(
    folder: Path, environment: dict[str, str] | None = None, given: Options | None = None
) -> Connection:
    home = {"XDG_CONFIG_HOME": str(folder / "config")}
    return find_connection(
        given or options(), {**home, **(environment or {})}, folder / "in" / "it"
    )


def configure(folder: Path, text: str) -> Path:
    file = folder / "config" / "gatepost" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    return file


def start_stack(folder: Path) -> Path:
    file = folder / "var" / "status.json"
    file.parent.mkdir()
    client = {"cert": "var/pki/client_001.pem", "key": "/abs/client_001.key"}
    file.write_text(json.dumps({"proxy": "https://dev", "ca": "var/pki/ca.pem", "client": client}))
    return file


def test_the_first_place_that_has_a_setting_wins() -> None:
    places = [Place("first", {"url": "https://b"}), Place("second", FULL)]
    connection = resolve(places, "how")
    assert (connection.url, connection.ca) == ("https://b", "ca")
    assert connection.origin == {
        "url": "first",
        "ca": "second",
        "cert": "second",
        "key": "second",
    }


def test_a_certificate_and_a_key_of_two_places_are_not_put_together() -> None:
    with pytest.raises(Failure, match="key missing"):
        resolve([Place("first", {"cert": "mine"}), Place("second", FULL)], "how")


def test_options_before_environment_before_file_before_checkout(tmp_path: Path) -> None:
    status = start_stack(tmp_path)
    file = configure(tmp_path, 'url = "https://file"\nca = "file.pem"\n')
    environment = {"GATEPOST_URL": "https://environment"}
    connection = find(tmp_path, environment, options(cert="mine.pem", key="mine.key"))
    assert connection.url == "https://environment"
    assert connection.ca == str(file.parent / "file.pem")
    assert connection.cert == "mine.pem"
    assert connection.origin["ca"] == str(file)
    assert find(tmp_path).origin["cert"] == str(status)


def test_a_proxy_is_nobodys_need_and_the_first_that_is_named(tmp_path: Path) -> None:
    assert resolve([Place("first", FULL)], "how").proxy is None
    file = configure(tmp_path, "\n".join(f'{name} = "{value}"' for name, value in FULL.items()))
    environment = {"GATEPOST_PROXY": "http://environment:1"}
    assert find(tmp_path).proxy is None
    file.write_text(f'{file.read_text()}\nproxy = "http://file:1"\n')
    assert find(tmp_path).proxy == "http://file:1"
    found = find(tmp_path, environment)
    assert (found.proxy, found.origin["proxy"]) == ("http://environment:1", "the environment")
    assert find(tmp_path, environment, options(proxy="http://o:1")).proxy == "http://o:1"
    # Also where the options say all the rest.
    assert find(tmp_path, environment, options(**FULL)).proxy == "http://environment:1"


def test_a_checkout_is_found_from_below_and_its_paths_are_meant_from_its_root(
    tmp_path: Path,
) -> None:
    start_stack(tmp_path)
    connection = find(tmp_path)
    assert connection.url == "https://dev"
    assert connection.ca == str(tmp_path / "var/pki/ca.pem")
    assert connection.key == "/abs/client_001.key"


def test_a_checkout_of_another_user_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_stack(tmp_path)
    mine = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
    with pytest.raises(Failure, match="No gateway is set up"):
        find(tmp_path)


@pytest.mark.parametrize("content", ["", "[]", "{", '{"proxy": 7, "client": []}', "\0"])
def test_an_odd_status_is_as_none(tmp_path: Path, content: str) -> None:
    start_stack(tmp_path).write_text(content)
    with pytest.raises(Failure, match="url, ca, cert, key missing"):
        find(tmp_path)


def test_a_wrong_file_is_no_matter_when_nothing_is_missing(tmp_path: Path) -> None:
    configure(tmp_path, "nonsense")
    assert find(tmp_path, given=options(**FULL)).url == "https://a"


@pytest.mark.parametrize("text", ["url", "nonsense = 1", "url = 1", '[url]\na = "b"'])
def test_a_wrong_file_is_named(tmp_path: Path, text: str) -> None:
    file = configure(tmp_path, text)
    with pytest.raises(Failure, match=str(file)):
        find(tmp_path)


def test_nothing_set_says_all_the_ways(alone: Command) -> None:
    ran = alone("whoami")
    assert ran.code == 2
    for way in ("--url", "GATEPOST_URL", "config.toml", "./dev up"):
        assert way in ran.err


def test_an_address_that_is_none_is_named_by_its_place(gatepost: Command) -> None:
    gatepost.monkeypatch.setenv("GATEPOST_URL", "http://me:password@127.0.0.1")
    ran = gatepost("whoami")
    assert ran.code == 2
    assert "the environment" in ran.err
    assert "password" not in ran.err
