"""Where a command finds its settings, and what it says where there are none."""

import fcntl
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.main import get_command

from gatepost.cli import configuration
from gatepost.cli.configuration import config_option, find_file
from gatepost.cli.failure import Failure
from gatepost.cli.main import app, run
from gatepost.config.settings import ENVIRONMENT_NAMES


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing is set, and this folder is in nobody's checkout."""
    for name in ENVIRONMENT_NAMES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(configuration, "FOLDER", tmp_path / "etc")
    here = tmp_path / "checkout" / "docs"
    here.mkdir(parents=True)
    monkeypatch.chdir(here)
    return tmp_path


@pytest.fixture
def installed(machine: Path) -> Path:
    file = machine / "etc" / "main_server" / "config.yaml"
    file.parent.mkdir(parents=True)
    file.touch()
    return file


@pytest.fixture
def checkout(machine: Path) -> Path:
    """Its stack doesn't run."""
    file = machine / "checkout" / "var" / "config" / "main_server.yaml"
    for folder in (file.parent, machine / "checkout" / "var" / "run"):
        folder.mkdir(parents=True)
    file.touch()
    (machine / "checkout" / "var" / "run" / "supervisor.lock").touch()
    return file


def not_found(*services: str) -> tuple[str, str]:
    with pytest.raises(Failure) as told:
        find_file(*services)
    assert told.value.kind == "usage"
    assert told.value.message.startswith("No settings were found: there is no ")
    return told.value.message, told.value.hint or ""


def test_a_machines_own_come_before_a_checkouts(installed: Path, checkout: Path) -> None:
    with (checkout.parents[1] / "run" / "supervisor.lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert find_file("main_server") == installed
        installed.unlink()
        assert find_file("migration", "main_server") == checkout
        words, hint = not_found("backup")
    assert f"the stack of {checkout.parents[2]} has none of this" in words
    assert hint == "Name the file: --config FILE."


def test_of_a_stack_that_does_not_run_none_is_taken(checkout: Path) -> None:
    words, hint = not_found("main_server")
    assert "the stack of" in words
    assert "does not run" in words
    assert "./dev up" in hint


def test_where_there_is_nothing_it_says_where_it_has_looked(machine: Path) -> None:
    words, _ = not_found("migration", "main_server")
    for name in ("migration", "main_server"):
        assert str(machine / "etc" / name / "config.yaml") in words
    assert "no checkout" in words


@pytest.mark.parametrize("variable", configuration.STORES)
def test_an_environment_that_says_where_the_stores_are_is_enough(
    machine: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "there")
    assert find_file("main_server") is None
    monkeypatch.delenv(variable)
    Path(".env").write_text(f"{variable}=there\n")
    assert find_file("main_server") is None
    Path(".env").write_text("DB_PASSWORD=hidden\n")
    not_found("main_server")


@pytest.mark.parametrize("variable", configuration.STORES)
def test_a_file_counts_beside_the_environment_which_wins_over_it_as_for_services(
    installed: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "there")
    assert find_file("main_server") == installed


def test_one_that_may_not_be_read_is_there(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(_file: Path, **_: bool) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "is_file", lambda _: False)
    monkeypatch.setattr(Path, "exists", lambda _: False)
    monkeypatch.setattr(Path, "stat", forbidden)
    assert find_file("main_server") == installed


def test_what_is_named_is_taken_and_nothing_looked_for() -> None:
    alone = typer.Typer()

    @alone.command()
    def show(config: Annotated[Path | None, config_option("Its", "main_server")] = None) -> None:
        typer.echo(config)

    command = get_command(alone)
    assert command.main(["--config", "x.yaml"], standalone_mode=False) is None
    with pytest.raises(Failure):
        command.main([], standalone_mode=False)


def operators() -> list[tuple[str, str]]:
    """Each command that can be told a file of settings, and what is said of that option."""
    found: list[tuple[str, str]] = []

    def walk(command: Any, words: str) -> None:
        if hasattr(command, "list_commands"):
            for name in command.list_commands(None):
                walk(command.get_command(None, name), f"{words} {name}".strip())
        else:
            found.extend((words, one.help) for one in command.params if "--config" in one.opts)

    walk(get_command(app), "")
    return [one for one in found if one[0] not in ("cert renew", "config show")]


def test_no_command_goes_by_settings_that_nobody_gave(capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever else it misses, it is never a store that it blames."""
    commands = operators()
    assert len(commands) > 50
    for words, said_of_it in commands:
        assert said_of_it.endswith("the checkout that runs here."), words
    for words in ("queue list", "ca status", "backup list", "analytics status", "proxy drain"):
        assert run(words.split()) == 2
        assert "No settings were found" in capsys.readouterr().err
