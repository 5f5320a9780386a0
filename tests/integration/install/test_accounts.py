"""The database's users as `gatepost install` makes them, in a real MariaDB."""

import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pymysql
import pytest

from gatepost.install import database, mariadb
from gatepost.install.configuration import DATABASE_PASSWORDS, ETC
from gatepost.install.machine import Machine
from gatepost.install.shipped import Release
from gatepost.install.steps import Step
from infra.dev.engines import Engines, MariaServer
from infra.dev.paths import ROOT


class Checkout(Release):
    """Out of the checkout."""

    def read(self, name: str) -> bytes:
        return (ROOT / "infra" / name).read_bytes()


class ByClient(Machine):
    """Whose `mariadb` is the real client, to a server of ours: there root comes by a password."""

    def __init__(self, root: Path, program: Path, options: Path, where: Mapping[str, str]) -> None:
        super().__init__(root)
        self._command = [str(program), f"--defaults-extra-file={options}"]
        self._where = where

    def call(
        self,
        *command: str | Path,
        text: str | None = None,
        user: str | None = None,
        extra: Mapping[str, str] | None = None,
    ) -> "subprocess.CompletedProcess[str]":
        assert (command[0], user, extra) == ("mariadb", None, None)
        words = [*self._command, *map(str, command[1:])]
        return subprocess.run(
            words, input=text, capture_output=True, text=True, check=False, env=self._where
        )


@pytest.fixture
def server(engines: Engines, tmp_path: Path) -> Iterator[MariaServer]:
    """One of its own, for it is given other passwords."""
    with MariaServer(engines, tmp_path / "mariadb") as running:
        yield running


@pytest.fixture
def machine(engines: Engines, server: MariaServer, tmp_path: Path) -> Machine:
    options, client = tmp_path / "client.cnf", engines.mariadb_dump
    url = server.url("root")
    password = url.partition("root:")[2].partition("@")[0]
    options.write_text(
        f"[client]\nhost={server.host}\nport={server.port}\nuser=root\npassword={password}\n"
    )
    options.chmod(0o600)
    program = client.program.with_name("mariadb")
    made = ByClient(tmp_path / "root", program, options, client.environment)
    for name in DATABASE_PASSWORDS.values():
        file = made.path(f"{ETC}/{name}")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"of-{name.replace('/', '-')}\n")
    return made


@pytest.fixture
def step(machine: Machine) -> Step:
    return database.accounts(machine, Checkout(Path()))


def ask(server: MariaServer, statement: str) -> None:
    password = server.url("root").partition("root:")[2].partition("@")[0]
    with pymysql.connect(
        host=server.host, port=server.port, user="root", password=password
    ) as connection:
        connection.cursor().execute(statement)


def test_they_are_made_once_and_made_good_again(server: MariaServer, step: Step) -> None:
    assert not step.is_done(), "they have other passwords"
    step.do()
    assert step.is_done()
    for harm in (
        "REVOKE DELETE ON gatepost.* FROM gatepost_main@127.0.0.1",
        "REVOKE ALTER ON gatepost.attempts FROM gatepost_main@127.0.0.1",
        "REVOKE PROCESS ON *.* FROM gatepost_retention@127.0.0.1",
        "REVOKE GRANT OPTION ON gatepost.* FROM gatepost_migrate@127.0.0.1",
        "ALTER USER gatepost_lake@127.0.0.1 IDENTIFIED BY 'another'",
        "DROP USER gatepost_drill@127.0.0.1",
        "DROP SCHEMA gatepost_keys",
    ):
        ask(server, harm)
        assert not step.is_done(), harm
        step.do()
        assert step.is_done(), harm


@pytest.fixture
def settings(server: MariaServer, machine: Machine) -> Step:
    """Of a machine that has a systemd: as if it had. Development runs with the same."""
    assert server.host
    machine.live = True
    file = machine.path(mariadb.SETTINGS)
    file.parent.mkdir(parents=True)
    step = mariadb.settings(machine, Checkout(Path()))
    assert not step.is_done()
    file.write_bytes((ROOT / "infra" / "my.cnf").read_bytes())
    return step


def test_settings_that_mariadb_was_not_started_with_are_seen(
    server: MariaServer, machine: Machine, settings: Step
) -> None:
    later = time.time() + 60  # the server counts whole seconds
    os.utime(machine.path(mariadb.SETTINGS), (later, later))
    assert settings.is_done()
    ask(server, "SET GLOBAL max_connections = 10")
    assert not settings.is_done(), "the file is newer than the server: it runs with the former ones"


def test_what_an_operator_sets_in_a_file_of_their_own_is_theirs(
    server: MariaServer, machine: Machine, settings: Step
) -> None:
    """But not what keeps messages safe."""
    os.utime(machine.path(mariadb.SETTINGS), (0, 0))  # long before the server was started
    ask(server, "SET GLOBAL max_connections = 400")
    assert settings.is_done()
    ask(server, "SET GLOBAL innodb_flush_log_at_trx_commit = 2")
    assert not settings.is_done()
