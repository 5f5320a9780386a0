"""`gatepost …` as an operator runs it, and what it takes: time, of the pipeline's steps by its own
log, and the peak memory of each of its processes, by the kernel."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from analytics import submit
from analytics.settings import Spark
from bench.nights.ledger import BigLedger
from infra.dev.jvm import find_driver, find_java
from infra.dev.place import session
from infra.dev.private import write_private
from infra.dev.spark_cluster import SparkCluster

GATEPOST = Path(sys.executable).with_name("gatepost")
STEPS = ("extract", "check", "reports", "publish")
TURN_SECONDS = 0.1


class Failed(Exception):
    """The run has failed; what it said."""


Parts = Iterable[tuple[int, str]]
"""Processes, each with which part of it all it is."""


@dataclass(frozen=True)
class Ended:
    """A command that went well."""

    seconds: float
    said: str
    peak_mib: dict[str, float]


@dataclass(frozen=True)
class Night:
    """A run that went well."""

    seconds: float
    events: Sequence[dict[str, Any]]
    peak_mib: dict[str, float]

    @property
    def days(self) -> list[dict[str, Any]]:
        return [one for one in self.events if one["event"] == "day.published"]

    def step(self, name: str) -> float:
        return sum(float(one[f"{name}_seconds"]) for one in self.days)

    def figures(self) -> dict[str, Any]:
        rows = sum(one["rows"] for one in self.days)
        steps = {name: round(self.step(name), 1) for name in STEPS}
        return {
            "seconds": round(self.seconds, 1),
            "days": len(self.days),
            "rows": rows,
            "rows_per_second": round(rows / self.seconds),
            "steps": steps,
            "peak_mib": self.peak_mib,
        }


def configure(
    folder: Path, ledger: BigLedger, *, memory: str = "2g", cluster: SparkCluster | None = None
) -> Path:
    """The file of settings; two cores, or what the cluster has."""
    spark: dict[str, Any] = {
        "master": cluster.url if cluster else "local[2]",
        "jdbc_jar": str(find_driver()),
        "driver_memory": memory,
        "conf": dict(cluster.conf) if cluster else {},
    }
    tree = {
        "environment": "development",
        "database": {"url": ledger.server.url("gatepost_analytics")},
        "source": {"url": ledger.server.url("gatepost_lake")},
        "lake": {"uri": f"file://{folder}/lake"},
        "spark": spark,
        "days": {"at_once": 3660},
    }
    file = folder / ("cluster.yaml" if cluster else "analytics.yaml")
    write_private(file, yaml.safe_dump(tree))
    return file


def run(config: Path, *arguments: str, cluster: SparkCluster | None = None) -> Night:
    """Raises Failed if it didn't go well."""
    command = [str(GATEPOST), "analytics", *(arguments or ("run",)), "--config", str(config)]
    environment = submit.environment(Spark(java_home=find_java()), os.environ)

    def parts(pid: int) -> Parts:
        executors = cluster.executors() if cluster else ()
        ours = ((one, _part_of(one)) for one in session(pid))
        named = [(one, part) for one, part in ours if part]
        return [*named, *((one, "executor") for one in executors)]

    ended = watch(command, config, parts, environment)
    events = [json.loads(line) for line in ended.said.splitlines()]
    return Night(ended.seconds, events, ended.peak_mib)


def watch(
    command: Sequence[str],
    config: Path,
    parts: Callable[[int], Parts],
    environment: Mapping[str, str] | None = None,
) -> Ended:
    """Until it has ended; what it says goes beside its configuration. If we are ended, it is."""
    said, complaints = config.with_suffix(".out"), config.with_suffix(".err")
    with said.open("w") as out, complaints.open("w") as err:
        begun = time.monotonic()
        process = subprocess.Popen(
            command, stdout=out, stderr=err, env=environment, start_new_session=True
        )
        peaks: dict[str, float] = {}
        try:
            while process.poll() is None:
                _note(peaks, parts(process.pid))
                time.sleep(TURN_SECONDS)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        seconds = time.monotonic() - begun
    if process.returncode:
        raise Failed(complaints.read_text()[-4000:])
    return Ended(seconds, said.read_text(), peaks)


def _note(peaks: dict[str, float], parts: Parts) -> None:
    """The kernel's own high-water marks: none is missed between two looks but a process's last."""
    for pid, part in parts:
        peaks[part] = max(peaks.get(part, 0.0), _peak_mib(pid))


def _part_of(pid: int) -> str | None:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return None
    if b"org.apache.spark.deploy.SparkSubmit" in words:
        return "driver's JVM"
    return "driver's Python" if str(submit.MAIN).encode() in words[:3] else None


def _peak_mib(pid: int) -> float:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    marks = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")]
    return round(int(marks[0]) / 1024, 1) if marks else 0.0
