"""The steps of any run: clients that post, a site that comes to rest, evidence, a verdict.

Clients, dump and checker are processes of their own: none is the one that breaks things.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infra.dev.paths import ROOT, VAR
from infra.dev.private import private_folder
from infra.dev.steps import Failure
from tests.chaos.services import CLIENTS
from tests.chaos.site import Site

REST_SECONDS = 150.0
"""Longer than a lease, a retry's wait and a sweep of the reconciler together."""

END_SECONDS = 40.0
"""For a client to hear of what it has posted last."""


def new_folder(name: str) -> Path:
    """Of one run, below `var/chaos`."""
    return private_folder(VAR / "chaos") / f"{time.strftime('%m%d-%H%M%S')}-{name}"


@contextmanager
def posting(
    site: Site, *, rate: float, seconds: float, seed: int, poison: float = 0.0, **mix: float
) -> Iterator[None]:
    """Clients post while this lasts; at its end they have heard of all that they will hear of.

    `rate` is of requests a second, all clients together; `poison` of messages nobody can read.
    """
    folder = site.place.folder
    processes = []
    for number, client in enumerate(CLIENTS):
        arguments = {
            "site": folder / "site.json",
            "client": client,
            "name": client,
            "history": folder / "history",
            "seed": seed,
            "seconds": seconds,
            "rate": rate / len(CLIENTS),
            "poison": 0.0 if number else poison,
            "mix": json.dumps(mix),
        }
        command = [sys.executable, "-m", "tests.chaos.workload"]
        for name, value in arguments.items():
            command += [f"--{name}", str(value)]
        with site.place.log(client).open("ab") as log:
            processes.append(subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log))
    try:
        yield
        for process, client in zip(processes, CLIENTS, strict=True):
            if process.wait(seconds + END_SECONDS) != 0:
                raise Failure(f"{client} failed:\n{site.place.log(client).read_text()[-2000:]}")
    finally:
        for process in processes:
            process.kill()
            process.wait()


def wait_at_rest(site: Site) -> float:
    """Until nothing waits any more, or it has had its time; how long it took, in seconds.

    What waits after that is stuck, and the checker will say so.
    """
    site.wait_all_ready()
    started = time.monotonic()
    while time.monotonic() - started < REST_SECONDS and not _is_at_rest(site):
        time.sleep(0.5)
    return time.monotonic() - started


def judge(folder: Path) -> bool:
    """Whether the checker finds every promise kept; the report is written and printed."""
    return _python("tests.chaos.report", folder) == 0


def collect(site: Site) -> None:
    """The final dumps of both stores."""
    folder = site.place.folder
    if _python("tests.chaos.dump", folder / "site.json", folder):
        raise Failure(f"{folder} could not be dumped.")


def _is_at_rest(site: Site) -> bool:
    [waiting] = site.sql("SELECT COUNT(*) AS n FROM messages WHERE status = 'queued'")
    with site.operator() as client:
        held = [key for key in client.scan_iter(match="*:payload") if client.hlen(key)]
    return waiting["n"] == 0 and not held


def _python(module: str, *arguments: Path) -> int:
    sys.stdout.flush()
    command = [sys.executable, "-m", module, *map(str, arguments)]
    return subprocess.run(command, check=False, cwd=ROOT).returncode
