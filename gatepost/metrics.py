"""Metrics of a service that runs in several processes: each writes files, the supervisor adds them
up.

A label is a name of ours from a short list; never an id, a client or anything that was sent.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from prometheus_client import CollectorRegistry, generate_latest, multiprocess, values
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

LATENCY_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


def collect_in(folder: Path) -> None:
    """Keep the metrics that are made in this process and its children from now on in this folder.

    This must come before the first metric is made.
    """
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
    values.ValueClass = values.MultiProcessValue()  # type: ignore[no-untyped-call]


class _Known(Collector):
    """A collector of what is known anyway, and counted nowhere."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families


def exposition(folder: Path, *families: Metric) -> bytes:
    """Return the text format, summed over all processes that have ever written here; and
    `families`."""
    registry = CollectorRegistry()
    registry.register(_Known(families))
    multiprocess.MultiProcessCollector(registry, path=str(folder))  # type: ignore[no-untyped-call]
    return generate_latest(registry)


def forget_process(folder: Path, pid: int) -> None:
    """Forget the live gauges of a process that has died; its counters still count."""
    multiprocess.mark_process_dead(pid, path=str(folder))  # type: ignore[no-untyped-call]
