"""`./dev` before anything is installed: help, mistakes, and when an environment is fresh."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from analytics.cli import analytics
from infra.dev import boot
from infra.dev.options import bench, chaos, checks, drill, stack
from infra.dev.options.commands import COMMANDS, Command
from infra.dev.options.programs import Programs
from infra.dev.paths import ROOT
from infra.dev.steps import Failure

FAMILIES = {
    "bench.": bench.PROGRAMS,
    "tests.chaos.": chaos.PROGRAMS,
    "tests.drills.": drill.PROGRAMS,
    "analytics.": stack.ANALYTICS,
}
PROGRAMS = [[one.command, name] for one in FAMILIES.values() for name in one.parsers]
ALL = [*([name] for name in COMMANDS), *PROGRAMS, ["drill", "operate", "install"]]
each_command = pytest.mark.parametrize("words", ALL, ids=" ".join)


def dev(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-S", "-m", "infra.dev.boot", *arguments],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
    )


def test_help_needs_nothing_and_names_every_command() -> None:
    said = dev("--help")
    assert said.returncode == 0
    for name, command in COMMANDS.items():
        assert f"./dev {name}" in said.stdout
        assert command.summary in said.stdout


def test_an_unknown_command_is_told_with_those_that_exist() -> None:
    said = dev("upp")
    assert said.returncode == 2
    assert "there is no command 'upp'" in said.stderr
    assert "./dev up " in said.stderr


@pytest.fixture
def nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever would be installed or started fails the test."""

    def happens(*_arguments: object) -> None:
        raise AssertionError("something was installed, or started")

    monkeypatch.setattr(boot, "prepare", happens)
    monkeypatch.setattr("os.execv", happens)


@each_command
@pytest.mark.parametrize("helps", ["--help", "-h"])
def test_each_command_helps_before_anything_happens(
    words: list[str], helps: str, nothing_happens: None, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        boot.main([*words, helps])
    assert end.value.code == 0
    assert f"usage: ./dev {words[0]}" in capsys.readouterr().out


@pytest.mark.parametrize("words", [one for one in ALL if one != ["test"]], ids=" ".join)
def test_an_option_that_there_is_not_is_refused_before_anything_happens(
    words: list[str], nothing_happens: None, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        boot.main([*words, "--sideways"])
    assert end.value.code == 2
    assert f"usage: ./dev {words[0]}" in capsys.readouterr().err


@pytest.mark.parametrize("family", [one for one in FAMILIES.values() if one.default is None])
def test_a_command_that_wants_a_name_tells_those_that_there_are(
    family: Programs, nothing_happens: None, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in ([], ["dance"]):
        with pytest.raises(SystemExit) as end:
            boot.main([family.command, *words])
        assert end.value.code == 2
        said = capsys.readouterr().err
        assert all(name in said for name in family.parsers)


@pytest.mark.parametrize("words", [["--help"], ["chaos", "teeth", "--help"], ["up", "--help"]])
def test_help_needs_no_package(words: list[str]) -> None:
    said = dev(*words)
    assert said.returncode == 0, said.stderr
    assert said.stdout


@pytest.mark.parametrize(
    "words", [["chaos", "teeth", "none"], ["bench", "queue", "dance"], ["drill", "operate", "it"]]
)
def test_a_name_that_there_is_not_is_refused_with_those_that_there_are(
    words: list[str], nothing_happens: None, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        boot.main(words)
    assert end.value.code == 2
    assert f"there is no {words[-1]}, but " in capsys.readouterr().err


def test_each_program_has_its_module_and_each_module_its_program() -> None:
    for prefix, family in FAMILIES.items():
        for name in family.parsers if prefix != "analytics." else []:
            assert find_spec(f"{prefix}{name}"), name
    for folder, family in (("bench", bench.PROGRAMS), ("tests/drills", drill.PROGRAMS)):
        assert {file.stem for file in (ROOT / folder).glob("[a-z]*.py")} == set(family.parsers)


def test_the_pipelines_options_are_those_of_the_command_that_does_it() -> None:
    command: Any = get_command(analytics)
    assert set(command.commands) == set(stack.ANALYTICS.parsers)
    for name, parser in stack.ANALYTICS.parsers.items():
        theirs = {word for one in command.commands[name].params for word in one.opts}
        # argparse has no other way to be asked for what it takes.
        ours = {word for one in parser()._actions for word in one.option_strings or [one.dest]}
        assert ours - {"-h", "--help"} == theirs - {"--config"}


def test_what_is_not_ours_goes_to_pytest_in_its_order() -> None:
    given = ["-k", "admission", "--no-lint", "tests/unit", "-x", "--lf", "--", "tests/unit/cli"]
    asked, for_pytest = checks.parse_test(given)
    assert asked.no_lint
    assert [word for word in for_pytest if word != "--"] == [
        "-k", "admission", "tests/unit", "-x", "--lf", "tests/unit/cli"
    ]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_each_command_has_its_module(command: Command) -> None:
    assert (ROOT / Path(*command.module.split(".")).with_suffix(".py")).exists()


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The groups that were installed; there is an environment, made for the tests."""
    groups: list[str] = []
    monkeypatch.setattr(boot, "VAR", tmp_path)
    monkeypatch.setattr(boot, "STAMP", tmp_path / "made-from.json")
    monkeypatch.setattr(boot, "install", groups.append)
    monkeypatch.setattr("infra.dev.python.works", lambda _folder: True)
    made = {"group": "test", "digest": boot.digest("test")}
    boot.STAMP.write_text(json.dumps(made))
    return groups


def test_an_environment_is_fresh_for_its_group_and_smaller_ones(installed: list[str]) -> None:
    boot.prepare("server")
    boot.prepare("test")
    assert installed == []


def test_a_larger_group_is_installed(installed: list[str]) -> None:
    boot.prepare("bench")
    assert installed == ["bench"]


def test_from_other_files_it_is_made_again_for_no_less_than_it_was(installed: list[str]) -> None:
    boot.STAMP.write_text(json.dumps({"group": "test", "digest": "of yesterday"}))
    boot.prepare("server")
    assert installed == ["test"]


@pytest.mark.parametrize("content", ["", "{}", '{"group": "none", "digest": ""}'])
def test_without_a_good_stamp_it_is_made_anew(installed: list[str], content: str) -> None:
    boot.STAMP.write_text(content)
    boot.prepare("server")
    assert installed == ["server"]


def test_an_environment_whose_python_has_gone_is_made_anew(
    installed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("infra.dev.python.works", lambda _folder: False)
    boot.prepare("test")
    assert installed == ["test"]


def test_a_folder_that_another_user_has_made_is_told_and_not_run_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    boot.demand_own(tmp_path)
    boot.demand_own(tmp_path / "not there yet")
    monkeypatch.setattr("os.access", lambda _path, _mode: False)  # root may do everything
    with pytest.raises(Failure, match="another user"):
        boot.demand_own(tmp_path)
