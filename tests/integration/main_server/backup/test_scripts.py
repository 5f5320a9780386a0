"""infra/backup.sh, run for real; infra/backup.ps1 can't be here, and says so."""

import os
import re
import subprocess
from pathlib import Path

from infra.dev.paths import ROOT
from tests.integration.main_server.backup.conftest import Command
from tests.integration.main_server.backup.test_backup import GATEPOST
from tests.integration.main_server.keys.conftest import House

SHELL, POWERSHELL = ROOT / "infra" / "backup.sh", ROOT / "infra" / "backup.ps1"


def script(backup: Command, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = f"{GATEPOST.parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [str(SHELL), *arguments],
        env={**os.environ, "PATH": path},
        cwd=backup.folder,
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
        check=False,
    )


def test_the_script_makes_a_backup_and_tries_it(house: House, backup: Command) -> None:
    house.delivered(2)
    ran = script(backup, "--config", str(backup.config))
    assert ran.returncode == 0, ran.stderr
    (made,) = backup.backups.iterdir()
    assert ran.stdout.splitlines()[0].startswith(str(made))
    assert f"{made.name}: 2 messages" in ran.stdout
    assert made.name in backup("list").out


def test_where_none_was_made_none_is_tried(house: House, backup: Command) -> None:
    """The one of before would do, and the night would look well."""
    backup.made()
    backup.configure(files=["/nothing"])
    ran = script(backup, "--config", str(backup.config))
    assert ran.returncode == 2
    assert "/nothing can't be read" in ran.stderr
    assert not [*backup.metrics.glob("*drill*")]


def test_the_one_for_windows_runs_the_same_and_says_that_it_is_untested() -> None:
    assert commands(POWERSHELL, "@args") == commands(SHELL, '"$@"') != []
    words = POWERSHELL.read_text()
    assert "Untested" in words
    assert words.count("$LASTEXITCODE") >= len(commands(POWERSHELL, "@args")), "each is heeded"


def commands(file: Path, arguments: str) -> list[str]:
    """What it runs of ours, each with whatever it was given."""
    lines = re.findall(r"^gatepost .*$", file.read_text(), re.MULTILINE)
    assert all(line.endswith(f" {arguments}") for line in lines)
    return [line.removesuffix(f" {arguments}") for line in lines]
