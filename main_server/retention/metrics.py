"""The metrics that tell Prometheus of retention: two files for the node exporter to collect.

One file is about the last run or proof, whatever came of it; the other is about the last run that
went well, and stays when one fails. So "nothing was proven for 26 hours" shows, whatever has
happened since.
"""

from datetime import UTC
from pathlib import Path

from prometheus_client import CollectorRegistry, Gauge

from gatepost import textfile
from gatepost.owners import owner_called
from main_server.retention.prove import Proof
from main_server.retention.run import Done

LAST = "gatepost_retention_last.prom"
SUCCESS = "gatepost_retention_success.prom"
PROOF = "gatepost_retention_proof.prom"


def tell_run(folder: Path | None, done: Done, seconds: float) -> None:
    run = done.run
    well = run.state == "done"
    _write(
        folder,
        LAST,
        {"gatepost_retention_last_run_ok": ("1 if the last run went well.", float(well))},
    )
    if well and run.ended_at is not None:
        ended = run.ended_at.replace(tzinfo=UTC).timestamp()
        said = {
            "gatepost_retention_last_success_timestamp_seconds": ("When it ended.", ended),
            "gatepost_retention_success_seconds": ("How long it took.", seconds),
            "gatepost_retention_messages": ("Messages that it took away.", run.row_count),
            "gatepost_retention_keys": ("Data keys that it destroyed.", run.key_count),
            "gatepost_retention_partitions": (
                "Partitions that it dropped whole.",
                run.partition_count,
            ),
            "gatepost_retention_held_clients": (
                "Clients whose messages a legal hold keeps.",
                len(done.plan.held),
            ),
        }
        _write(folder, SUCCESS, said)
    tell_proof(folder, done.proof)


def tell_failure(folder: Path | None) -> None:
    _write(folder, LAST, {"gatepost_retention_last_run_ok": ("1 if the last run went well.", 0.0)})


def tell_proof(folder: Path | None, proof: Proof) -> None:
    left = {
        "gatepost_retention_left": (
            "What is left past its day: 0, or alert.",
            float(len(proof.left)),
        )
    }
    _write(folder, PROOF, left)


def _write(folder: Path | None, file: str, said: dict[str, tuple[str, float]]) -> None:
    registry = CollectorRegistry()
    for name, (words, value) in said.items():
        Gauge(name, words, registry=registry).set(value)
    textfile.write(folder, file, registry, owner_called("main_server"))
