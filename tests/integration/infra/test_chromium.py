"""Where the browser of the tests comes from."""

import shutil
from pathlib import Path

import pytest

from infra.dev.chromium import find_chromium
from infra.dev.steps import Failure


@pytest.fixture
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Neither a browser nor apt; returns the folder that is its PATH."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "sh").symlink_to(shutil.which("sh") or "/none")
    monkeypatch.setenv("PATH", str(programs))
    return programs


def put(programs: Path, name: str, says: str) -> None:
    program = programs / name
    program.write_text(f"#!/bin/sh\necho '{says}'\n")
    program.chmod(0o755)


def test_the_first_that_is_recent_enough_is_taken(bare_machine: Path, tmp_path: Path) -> None:
    put(bare_machine, "chromium", "Chromium 90.0.4430.212 built on Debian 10")
    put(bare_machine, "google-chrome", "Google Chrome 156.0.8078.79 ")
    found = find_chromium(tmp_path / "engines")
    assert (str(found), found.program.name) == ("Chromium 156.0.8078.79", "google-chrome")
    assert not (tmp_path / "engines").exists()


def test_one_that_does_not_run_is_none(bare_machine: Path, tmp_path: Path) -> None:
    """As Ubuntu's, which says that it is a snap."""
    program = bare_machine / "chromium-browser"
    program.write_text("#!/bin/sh\necho 'Command requires the chromium snap' >&2; exit 1\n")
    program.chmod(0o755)
    with pytest.raises(Failure, match="apt-get install chromium"):
        find_chromium(tmp_path / "engines")
