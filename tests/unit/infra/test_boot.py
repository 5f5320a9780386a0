"""`./dev` before anything is installed: help, mistakes, and when an environment is fresh."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from infra.dev import boot
from infra.dev.paths import ROOT
from infra.dev.steps import Failure


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
    for name, command in boot.COMMANDS.items():
        assert f"./dev {name}" in said.stdout
        assert command.summary in said.stdout


def test_an_unknown_command_is_told_with_those_that_exist() -> None:
    said = dev("upp")
    assert said.returncode == 2
    assert "there is no command 'upp'" in said.stderr
    assert "./dev up " in said.stderr


@pytest.mark.parametrize("command", boot.COMMANDS.values(), ids=boot.COMMANDS)
def test_each_command_has_its_module(command: boot.Command) -> None:
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
