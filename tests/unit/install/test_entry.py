"""The command out of its wheel: it needs nothing but Python, and says what it can't do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gatepost.cli import main
from gatepost.install import demands
from gatepost.install.steps import Failure


def call(wheel: Path | None, *words: str) -> "subprocess.CompletedProcess[str]":
    """With the standard library alone, as the user of the first word."""
    place = {"PYTHONPATH": str(wheel)} if wheel else {}
    script = "import os, runpy, sys; user = int(sys.argv.pop(1)); os.geteuid = lambda: user\n"
    script += "runpy.run_module('gatepost.install', run_name='__main__', alter_sys=True)"
    return subprocess.run(
        [sys.executable, "-S", "-P", "-c", script, *words],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.environ["PATH"], **place},
        timeout=30,
    )


def test_it_is_roots_alone(wheel: Path) -> None:
    said = call(wheel, "1000", "--dry-run")
    assert (said.returncode, said.stdout) == (1, "")
    assert "Only root" in said.stderr


def test_another_system_is_told_all_that_it_lacks(wheel: Path, tmp_path: Path) -> None:
    for folder in ("run", "etc"):
        (tmp_path / folder).mkdir()
    (tmp_path / "etc" / "os-release").write_text('ID=plan9\nPRETTY_NAME="Plan 9"\n')
    before = sorted(tmp_path.rglob("*"))
    said = call(wheel, "0", "--root", str(tmp_path), "--yes")
    assert said.returncode == 1
    assert "no Debian or Ubuntu (Plan 9)" in said.stderr
    assert "apt-get install" in said.stderr
    assert "mariadb-server" in said.stderr
    assert set(tmp_path.rglob("*")) - set(before) == {tmp_path / "run" / "gatepost-install.lock"}


def test_a_folder_that_is_no_system_is_refused(wheel: Path, tmp_path: Path) -> None:
    said = call(wheel, "0", "--root", str(tmp_path), "--dry-run")
    assert said.returncode == 1
    assert "no root folder of a system" in said.stderr
    assert list(tmp_path.iterdir()) == []


def test_nobody_to_ask_is_said(wheel: Path, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    said = call(wheel, "0", "--root", str(tmp_path), "--uninstall")
    assert said.returncode == 1
    assert "--yes" in said.stderr


def test_there_is_nothing_to_go_back_to(wheel: Path, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    said = call(wheel, "0", "--root", str(tmp_path), "--back", "--yes")
    assert said.returncode == 1
    assert "no release before" in said.stderr


def test_the_command_wants_a_wheel(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main.run(["install", "--yes"]) == 2
    assert "Which wheel?" in capsys.readouterr().err
    assert main.run(["install", str(tmp_path / "gatepost.whl")]) == 2
    assert "There is no" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["", "a b", "x: y", "-h", "a/b", "ä.example", "a" * 260])
def test_a_name_that_is_none_goes_nowhere(name: str) -> None:
    with pytest.raises(Failure):
        demands.host(name or " ", is_new=True)


def test_a_machine_without_a_name_for_others_is_asked_for_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("socket.getfqdn", lambda: "localhost")
    with pytest.raises(Failure, match="--host"):
        demands.host(None, is_new=True)
    assert demands.host(None, is_new=False) == "localhost", "nothing is made of it any more"
    monkeypatch.setattr("socket.getfqdn", lambda: "gateway.example.net")
    assert demands.host(None, is_new=True) == "gateway.example.net"
