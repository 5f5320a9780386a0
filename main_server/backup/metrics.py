"""The metrics that tell Prometheus of backups: files for the node exporter to collect.

One file is about the last run, whatever came of it; one about the last run that went well, and one
about the last drill that did: what has failed since leaves both untouched.
"""

import time
from collections.abc import Mapping
from pathlib import Path

from prometheus_client import CollectorRegistry, Gauge

from gatepost import textfile
from gatepost.owners import Owner

LAST_RUN = "gatepost_backup_last_run.prom"
LAST_SUCCESS = "gatepost_backup_last_success.prom"
LAST_DRILL = "gatepost_backup_drill_last_success.prom"


def tell_failure(folder: Path | None, owner: Owner | None = None) -> None:
    _write(folder, LAST_RUN, {"gatepost_backup_last_run_ok": 0}, owner)


def tell_success(
    folder: Path | None, seconds: float, size: int, owner: Owner | None = None
) -> None:
    said = {
        "gatepost_backup_last_success_timestamp_seconds": time.time(),
        "gatepost_backup_last_success_seconds": seconds,
        "gatepost_backup_last_success_bytes": size,
    }
    _write(folder, LAST_RUN, {"gatepost_backup_last_run_ok": 1}, owner)
    _write(folder, LAST_SUCCESS, said, owner)


def tell_drill(folder: Path | None, seconds: float, owner: Owner | None = None) -> None:
    said = {
        "gatepost_backup_drill_last_success_timestamp_seconds": time.time(),
        "gatepost_backup_drill_last_success_seconds": seconds,
    }
    _write(folder, LAST_DRILL, said, owner)


def _write(folder: Path | None, file: str, said: Mapping[str, float], owner: Owner | None) -> None:
    registry = CollectorRegistry()
    for name, value in said.items():
        Gauge(name, "Of `gatepost backup`.", registry=registry).set(value)
    textfile.write(folder, file, registry, owner)
