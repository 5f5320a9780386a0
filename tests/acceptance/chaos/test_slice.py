"""Two minutes of chaos: what `./dev chaos` does, with a fixed seed, on the machine that tests."""

import subprocess
import sys

from infra.dev.paths import ROOT

MINUTES, RATE, SEED = 1.2, 60, 20261118
MOST_SECONDS = 600.0
"""It takes two and a half minutes. This is more than all that it waits for may take together, so
that on a slow machine it is the run that says what it waited for."""


def test_two_minutes_of_chaos_lose_and_double_nothing() -> None:
    options = [f"--minutes={MINUTES}", f"--rate={RATE}", f"--seed={SEED}"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.chaos.run", *options],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=MOST_SECONDS,
    )
    assert done.returncode == 0, f"{done.stdout[-6000:]}\n{done.stderr[-2000:]}"
    assert "lost 0" in done.stdout
