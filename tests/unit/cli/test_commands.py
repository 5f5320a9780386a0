"""Commands that others add: listed if they load, and harmless if they don't."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gatepost.cli.commands import NotInstalled, needs

WORKING = """
import typer
good = typer.Typer(help="A good command.", no_args_is_help=True)
@good.command()
def first() -> None:
    typer.echo("done")
@good.command()
def second() -> None:
    raise typer.Exit(7)
"""
BROKEN = "import a_library_that_is_not_there\n"
WORSE = "raise SystemError('worse')\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A distribution that adds three commands; it is found as an installed one is."""
    (tmp_path / "added_good.py").write_text(WORKING)
    (tmp_path / "added_broken.py").write_text(BROKEN)
    (tmp_path / "added_worse.py").write_text(WORSE)
    information = tmp_path / "added-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: added\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(
        "[gatepost.commands]\n"
        "good = added_good:good\n"
        "broken = added_broken:app\n"
        "worse = added_worse:app\n"
        "missing = added_good:nothing\n"
        "whoami = added_broken:app\n"
    )
    return tmp_path


def gatepost(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join([str(folder), *sys.path])
    return subprocess.run(
        [sys.executable, "-c", "from gatepost.cli.main import main; main()", *arguments],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )


def test_only_what_loads_is_listed(folder: Path) -> None:
    ran = gatepost(folder, "--help")
    assert ran.returncode == 0
    assert re.search(r"^  good +A good command\.", ran.stdout, re.MULTILINE)
    assert re.search(r"^  whoami +Say who you are", ran.stdout, re.MULTILINE)
    for name in ("broken", "worse", "missing"):
        assert f"  {name} " not in ran.stdout


def test_an_added_command_runs_and_decides_its_exit_code(folder: Path) -> None:
    assert gatepost(folder, "good", "first").stdout == "done\n"
    assert gatepost(folder, "good", "second").returncode == 7


def test_one_that_does_not_load_says_why_when_it_is_called(folder: Path) -> None:
    ran = gatepost(folder, "broken")
    assert ran.returncode == 2
    assert "a_library_that_is_not_there" in ran.stderr
    assert "gatepost[server]" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_built_in_command_is_not_replaced(folder: Path) -> None:
    ran = gatepost(folder, "whoami", "--help")
    assert "Say who you are" in ran.stdout


def test_a_module_says_what_it_needs() -> None:
    needs("json", "typer")
    with pytest.raises(NotInstalled, match="nothing_like_it is not installed") as raised:
        needs("json", "nothing_like_it", extras="server,analytics")
    assert raised.value.extras == "server,analytics"
