"""Where the servers come from on machines that lack them."""

import shutil
from pathlib import Path

import pytest
import redis

from infra.dev.engines import RedisServer, find_engines
from infra.dev.steps import Failure


@pytest.fixture
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Neither servers nor apt; returns a folder that is on its PATH."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("sh", "setpriv"):
        (programs / name).symlink_to(shutil.which(name) or "/none")
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setattr("infra.dev.engines.find.SYSTEM_FOLDERS", ())
    return programs


def put(programs: Path, name: str, says: str) -> None:
    program = programs / name
    program.write_text(f"#!/bin/sh\necho '{says}'\n")
    program.chmod(0o755)


def test_what_is_on_the_path_is_taken(bare_machine: Path, tmp_path: Path) -> None:
    put(bare_machine, "redis-server", "Redis server v=7.2.4 sha=00000000:0 malloc=jemalloc")
    put(bare_machine, "mariadbd", "mariadbd  Ver 11.4.2-MariaDB for debian-linux-gnu on x86_64")
    engines = find_engines(tmp_path / "engines")
    assert str(engines.redis) == "redis-server 7.2.4"
    assert str(engines.mariadb) == "mariadbd 11.4.2"
    assert not (tmp_path / "engines").exists()


def test_without_redis_and_apt_a_wheel_stands_in(bare_machine: Path, tmp_path: Path) -> None:
    put(bare_machine, "redis-server", "Redis server v=6.0.16 sha=00000000:0")  # too old
    engines = find_engines(tmp_path / "engines")
    assert engines.redis.program.name == "valkey-server"
    with (
        RedisServer(engines, tmp_path / "data") as server,
        redis.Redis.from_url(server.url()) as client,
    ):
        assert client.config_get("appendfsync") == {"appendfsync": "always"}


def test_without_mariadb_and_apt_the_user_is_asked_for_a_database(
    bare_machine: Path, tmp_path: Path
) -> None:
    put(bare_machine, "mariadbd", "mariadbd  Ver 10.6.18-MariaDB for debian-linux-gnu")  # too old
    with pytest.raises(Failure, match="DATABASE_URL=mysql"):
        _ = find_engines(tmp_path / "engines").mariadb
