"""Metrics that a supervisor has of its service, beside what the children have counted.

The names of checks are those of /readyz: a breaker that is open, a clock that is off, a list that
is too old are all there, with how many processes say so. What they say of it is in /readyz alone.
"""

import platform
from collections.abc import Iterator
from dataclasses import dataclass

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from gatepost import __version__
from gatepost.service.ops import Checks


@dataclass(frozen=True, slots=True)
class Standing:
    """The standing of a service: the processes that there are to be, and what each of them says."""

    ready: bool
    processes: int
    heard: list[Checks]
    deaths: int
    """Deaths of processes that nobody had told to end, since the start."""


def families(standing: Standing) -> Iterator[Metric]:
    build = GaugeMetricFamily(
        "gatepost_build_info", "What runs here; always 1", labels=["version", "python"]
    )
    build.add_metric([__version__, platform.python_version()], 1)
    yield build
    yield GaugeMetricFamily("gatepost_ready", "Whether /readyz says so", value=standing.ready)
    yield GaugeMetricFamily(
        "gatepost_processes", "Processes that are heard of", value=len(standing.heard)
    )
    yield GaugeMetricFamily(
        "gatepost_processes_wanted", "Processes that there are to be", value=standing.processes
    )
    yield CounterMetricFamily(
        "gatepost_process_deaths",
        "Processes that ended though nobody had told them to",
        value=standing.deaths,
    )
    yield _troubled(standing.heard)


def _troubled(heard: list[Checks]) -> Metric:
    family = GaugeMetricFamily(
        "gatepost_troubled_processes",
        "Processes that have something to say of that check of /readyz",
        labels=["check"],
    )
    for name in sorted({name for one in heard for name in one}):
        said = [one[name].detail for one in heard if name in one]
        family.add_metric([name], len(said) - said.count(None))
    return family
