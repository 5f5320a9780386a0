"""`./dev bench path`: the whole path, measured in one run on a stack of its own.

Real mTLS, all guarantees on: MariaDB flushes at commit, Redis appends always. Each figure stands
beside the noise of the machine at that moment and the share of a core that the load generator took:
where that is near 1, the generator was the limit and not Gatepost. A run of all subjects writes
docs/performance.md: no figure gets there in another way.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.rig import pages, report
from bench.rig.machine import cpu_seconds, noise, resident_bytes
from bench.rig.subject import SERVICES, Subject, subjects
from infra.dev.options import bench as options

PARKED = 100_000
"""How many wait for a later attempt while others come through (I4)."""


def load(subject: Subject, *, connections: int, seconds: float, **more: float) -> dict[str, Any]:
    """One run of the load generator against a subject."""
    command = [sys.executable, "-m", "bench.rig.load", "--port", str(subject.port)]
    for name in ("ca", "cert", "key"):
        command += [f"--{name}", str(getattr(subject, name))]
    command += ["--connections", str(connections), "--seconds", str(seconds)]
    for name, value in more.items():
        command += [f"--{name}", str(value)]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(found.stdout)
    return result


def singles(subject: Subject, connections: int, seconds: float) -> dict[str, Any]:
    """Accepted and delivered while posting one by one, and the CPU that it took."""
    quiet = noise()
    before, delivered, started = cpu_seconds(subject.pids()), subject.delivered(), time.monotonic()
    result = load(subject, connections=connections, seconds=seconds)
    posting = time.monotonic() - started
    during = subject.delivered() - delivered
    backlog = subject.undelivered()
    subject.wait_until_delivered()
    used = cpu_seconds(subject.pids())
    accepted = max(1, result["accepted"])
    return result | {
        "delivered_per_second": round(during / posting),
        "backlog_at_end": backlog,
        "cpu_us_per_message": {
            name: round((used[name] - before[name]) / accepted * 1e6) for name in used
        },
        "noise": quiet,
    }


def most_within(before: Mapping[float, float], after: Mapping[float, float]) -> dict[str, Any]:
    """The bound that 95 % of what came between two looks at a histogram kept to."""
    since = {bound: after[bound] - before.get(bound, 0) for bound in sorted(after)}
    total = since[math.inf]
    within = next(bound for bound, count in since.items() if count >= 0.95 * total)
    return {"commits": int(total), "p95_at_most_ms": within * 1000}


def batches(subject: Subject, seconds: float) -> dict[str, Any]:
    quiet = noise()
    result = load(subject, connections=8, seconds=seconds, batch=100)
    subject.wait_until_delivered()
    return result | {"noise": quiet}


def latency(subject: Subject, seconds: float) -> dict[str, Any]:
    """From post to delivered at 100 messages a second, by the ledger's own times."""
    quiet, since = noise(), subject.now()
    load(subject, connections=8, seconds=seconds, rate=100)
    subject.wait_until_delivered()
    return subject.delivery_latency(since) | {"noise": quiet}


def drain(subject: Subject, messages: int) -> dict[str, Any]:
    """How fast a backlog goes: workers are stopped while it is made, then go on."""
    quiet = noise()
    subject.pause_workers()
    try:
        while subject.undelivered() < messages:
            load(subject, connections=8, seconds=3, batch=200)
    finally:
        backlog = subject.undelivered()
        started = time.monotonic()
        subject.resume_workers()
    subject.wait_until_delivered(timeout=600)
    seconds = time.monotonic() - started
    return {
        "backlog": backlog,
        "seconds": round(seconds, 1),
        "drained_per_second": round(backlog / seconds),
        "noise": quiet,
    }


def measure(subject: Subject, arguments: argparse.Namespace) -> dict[str, Any]:
    seconds = arguments.seconds
    load(subject, connections=16, seconds=2)  # warm-up
    subject.wait_until_delivered()
    results: dict[str, Any] = {
        "start_seconds": round(subject.start_seconds, 2),
        "singles_16": singles(subject, 16, seconds),
    }
    before = subject.ledger_commits() if subject.complete else {}
    results["singles_64"] = singles(subject, 64, seconds)
    if subject.complete:
        results["ledger_commits"] = most_within(before, subject.ledger_commits())
        results["batches_of_100"] = batches(subject, seconds)
        results["latency_at_100"] = latency(subject, max(5.0, seconds))
        results["drain"] = drain(subject, arguments.backlog)
    results["resident_mib"] = resident_bytes(subject.pids())
    if subject.complete:
        subject.park(PARKED)
        results["latency_with_parked"] = latency(subject, max(5.0, seconds)) | {"parked": PARKED}
        results["restart_seconds"] = {name: subject.restart(name) for name in SERVICES}
    return results


def main() -> None:
    arguments = options.path().parse_args()
    wanted = [arguments.only] if arguments.only else list(options.SUBJECTS)
    results: dict[str, Any] = {"seconds": arguments.seconds, "noise": noise(), "subjects": {}}
    with tempfile.TemporaryDirectory(prefix="gatepost-bench-") as folder:
        for name in wanted:
            print(f"measuring {name} …", flush=True)
            with subjects(name, Path(folder) / name) as subject:
                results["subjects"][name] = measure(subject, arguments)
    text = report.render(results)
    print(text)
    pages.keep("path", results, text, write=not arguments.only)


if __name__ == "__main__":
    main()
