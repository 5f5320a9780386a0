"""`./dev` before anything is installed: help, mistakes, and when an environment is fresh."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from infra.dev import boot
from infra.dev.paths import ROOT


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
def stamp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "made-from.json"
    monkeypatch.setattr(boot, "STAMP", file)
    monkeypatch.setattr("infra.dev.python.works", lambda _folder: True)
    return file


def test_an_environment_is_fresh_for_its_group_and_smaller_ones(stamp: Path) -> None:
    stamp.write_text(json.dumps({"group": "test", "digest": boot.digest("test")}))
    assert boot.is_fresh("server")
    assert boot.is_fresh("test")
    assert not boot.is_fresh("bench")


def test_an_environment_from_other_files_is_stale(stamp: Path) -> None:
    stamp.write_text(json.dumps({"group": "test", "digest": "of yesterday"}))
    assert not boot.is_fresh("test")


@pytest.mark.parametrize("content", ["", "{}", '{"group": "none", "digest": ""}'])
def test_a_broken_stamp_is_stale(stamp: Path, content: str) -> None:
    stamp.write_text(content)
    assert not boot.is_fresh("test")
