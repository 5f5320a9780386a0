"""Who runs is told by the kernel: a lock ends with its process, whatever the file says."""

import subprocess
import sys
from pathlib import Path

import pytest

from infra.dev.locking import holder, take, the_only_one
from infra.dev.paths import ROOT
from infra.dev.steps import Failure

HOLD = """
import pathlib, sys, time
from infra.dev.locking import the_only_one
with the_only_one(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_second_one_is_told_who_the_first_is(tmp_path: Path) -> None:
    file = tmp_path / "lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(file)], cwd=ROOT, stdout=subprocess.PIPE
    ) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == b"held\n"
        assert holder(file) == first.pid
        with pytest.raises(Failure, match=f"process {first.pid}"), the_only_one(file):
            pass
        first.kill()
        first.wait()
        assert holder(file) is None
        with the_only_one(file):
            pass


def test_nobody_holds_a_lock_that_never_was(tmp_path: Path) -> None:
    assert holder(tmp_path / "none") is None


def test_waiting_for_a_lock_ends_with_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("infra.dev.locking.FORMER_SECONDS", 0.1)
    with the_only_one(tmp_path / "lock"), pytest.raises(Failure, match="Another redis still runs"):
        take(tmp_path / "lock", "redis")
