"""The power cut of a run is one: what was synced is there, and what wasn't is gone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from infra.dev.paths import ROOT


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts a disk")
def test_only_what_was_synced_outlives_a_power_cut(tmp_path: Path) -> None:
    done = subprocess.run(
        ["unshare", "--mount", sys.executable, "-m", "tests.acceptance.chaos.power", str(tmp_path)],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
