"""The steps of any run: clients that post, a site that comes to rest, evidence, a verdict.

Clients, dump and checker are processes of their own: none is the one that breaks things.
"""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pymysql
import redis

from infra.dev.engines import find_engines
from infra.dev.paths import ROOT, VAR
from infra.dev.private import private_folder
from infra.dev.steps import Failure, last_words, step
from tests.chaos.enclosure import enclose, enclosed, why_not
from tests.chaos.network import Tools
from tests.chaos.report.facts import write_facts
from tests.chaos.services import CLIENTS, LEAVERS
from tests.chaos.site import SERVICES, STORES, Site
from worker.delivering import LEASE_SECONDS

LEAVER_RATE = 4.0
REST_SECONDS = 150.0
"""Longer than a lease, a retry's wait and a sweep of the reconciler together."""

END_SECONDS = 40.0
"""For a client to hear of what it has posted last."""


def prepare(module: str, arguments: list[str], *, loopback: bool = False) -> None:
    """Goes on in an enclosure, where one can be had; ends in order when it is told to.

    What is to be downloaded is downloaded before: from within there is no way out.
    """
    Tools().fetch()
    find_engines().fetch()
    if not loopback:
        enclose(module, arguments)
    if not enclosed():
        print(f"On {where()}.")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def where() -> str:
    """For the report: what a reader should know of the site."""
    if enclosed():
        return "network namespaces, one disk for both stores"
    return f"loopback ({why_not()})"


@contextmanager
def trial(name: str, seed: int, tree: Path = ROOT, **facts: Any) -> Iterator[Site]:
    """A site to break, in a folder of its own below `var/chaos`; after that it comes to rest, and
    what is left is dumped there.
    """
    folder = private_folder(VAR / "chaos" / f"{time.strftime('%m%d-%H%M%S')}-{name}-{seed}")
    print(f"{name}, seed {seed}, in {folder}", flush=True)
    write_facts(folder, seed=seed, where=where(), lease_seconds=LEASE_SECONDS, **facts)
    with ExitStack() as stack:
        with step("two of each service, and the stores"):
            site = stack.enter_context(Site(folder, enclosed=enclosed(), tree=tree))
        yield site
        with step("until nothing waits"):
            wait_at_rest(site)
        _collect(site)


class Clients:
    """The processes that post, one for each client of the site."""

    def __init__(self, site: Site, arguments: dict[str, Any], poison: float) -> None:
        self._site = site
        own = {name: {"poison": 0.0} for name in CLIENTS}
        own[CLIENTS[0]]["poison"] = poison
        own |= {name: {"rate": LEAVER_RATE} for name in LEAVERS}
        self._processes = {
            client: self._start(client, arguments | differing) for client, differing in own.items()
        }

    def _start(self, client: str, arguments: dict[str, Any]) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "tests.chaos.workload"]
        for name, value in (arguments | {"client": client, "name": client}).items():
            command += [f"--{name}", str(value)]
        with self._site.place.log(client).open("ab") as log:
            return subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)

    def stop(self) -> None:
        """They post no more, but wait for the answers that are still to come."""
        for process in self._processes.values():
            process.terminate()

    def wait(self, seconds: float) -> None:
        """Until each has ended. One that doesn't, or not well, is named; what it wrote counts."""
        deadline = time.monotonic() + seconds
        for client, process in self._processes.items():
            try:
                code = process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                self._site.journal.undone("waiting for a client", client, "it does not end")
            else:
                if code != 0:
                    said = last_words(self._site.place.log(client).read_text(errors="replace"), 5)
                    why = f"exit code {code}: {said}"
                    self._site.journal.undone("posting as a client", client, why)

    def kill(self) -> None:
        for process in self._processes.values():
            process.kill()
            process.wait()


@contextmanager
def posting(
    site: Site, *, rate: float, seconds: float, seed: int, poison: float = 0.0
) -> Iterator[Clients]:
    """Clients post while this lasts; at its end they have heard of all that they will hear of.

    `rate` is of requests a second, all clients together; `poison` of messages nobody can read.
    """
    folder = site.place.folder
    arguments = {
        "site": folder / "site.json",
        "history": folder / "history",
        "seed": seed,
        "seconds": seconds,
        "rate": rate / len(CLIENTS),
    }
    clients = Clients(site, arguments, poison)
    try:
        yield clients
        clients.wait(seconds + END_SECONDS)
    finally:
        clients.kill()


def wait_at_rest(site: Site) -> float:
    """Until nothing waits any more, or it has had its time; how long it took, in seconds.

    What waits after that is stuck, and the checker will say so; so is what doesn't get ready.
    """
    for name in (*STORES, *SERVICES):
        try:
            site.wait_ready(name)
        except Failure as failure:
            site.journal.undone("waiting until it is ready", name, str(failure))
    started = time.monotonic()
    while time.monotonic() - started < REST_SECONDS and not _is_at_rest(site):
        time.sleep(0.5)
    return time.monotonic() - started


def judge(folder: Path) -> bool:
    """Whether the checker finds every promise kept; the report is written and printed."""
    return _python("tests.chaos.report", folder) == 0


def _collect(site: Site) -> None:
    """The final dumps of both stores."""
    folder = site.place.folder
    if _python("tests.chaos.dump", folder / "site.json", folder):
        raise Failure(f"{folder} could not be dumped.")


def _is_at_rest(site: Site) -> bool:
    """Whether both stores say so; one that can't be asked now doesn't."""
    try:
        [waiting] = site.sql("SELECT COUNT(*) AS n FROM messages WHERE status = 'queued'")
        with site.operator() as client:
            held = [key for key in client.scan_iter(match="*:payload") if client.hlen(key)]
    except (pymysql.Error, redis.RedisError) as error:
        site.journal.note("not asked whether it rests", "stores", why=type(error).__name__)
        return False
    return waiting["n"] == 0 and not held


def _python(module: str, *arguments: Path) -> int:
    sys.stdout.flush()
    command = [sys.executable, "-m", module, *map(str, arguments)]
    return subprocess.run(command, check=False, cwd=ROOT).returncode
