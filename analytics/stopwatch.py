"""Measure how long each step of a day took, for whoever reads the log."""

import time
from collections import defaultdict


class Stopwatch:
    def __init__(self) -> None:
        self._last = time.monotonic()
        self._steps: defaultdict[str, float] = defaultdict(float)

    def lap(self, step: str) -> None:
        """Note that this step has ended; one that is done again goes on counting."""
        now = time.monotonic()
        self._steps[step] += now - self._last
        self._last = now

    def seconds(self) -> dict[str, float]:
        return {f"{step}_seconds": round(seconds, 3) for step, seconds in self._steps.items()}
