"""A bed for scenes: a rig of real processes, load, a journal of what was broken, and at the end the
files that the checker judges.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pymysql

from infra.dev.child import Child
from infra.dev.engines.find import clean_environment
from infra.dev.paths import ROOT
from tests.acceptance.two_stores.rig import Rig
from tests.chaos.dump import Remains
from tests.chaos.journal import Journal
from tests.chaos.transitions import watch_status

DRAIN_SECONDS = 25.0
MOST_SECONDS = 120.0
"""Of load: a scene ends it earlier."""


class Bed:
    """In `folder`: the rig's files, and `evidence/` for the checker."""

    def __init__(self, rig: Rig, folder: Path, seed: int = 1) -> None:
        self.rig = rig
        self.folder = folder
        self.evidence = folder / "evidence"
        self.evidence.mkdir()
        self._seed = seed
        self._journal = Journal(self.evidence)
        self._describe()
        self._watch()

    @contextmanager
    def load(self, rate: float = 40.0, poison: float = 0.0, **mix: float) -> Iterator[None]:
        """Clients post as long as this lasts, and are then waited for."""
        workload = self._workload(rate, poison, mix)
        workload.start()
        try:
            self.wait_accepted(10)
            yield
        finally:
            workload.stop(30)

    @contextmanager
    def fault(self, name: str, target: str, *, destroyed: bool = False) -> Iterator[None]:
        self._journal.begin(name, target, destroyed=destroyed)
        try:
            yield
        finally:
            self._journal.end(name, target)

    def wait_accepted(self, more: int, seconds: float = 20.0) -> None:
        """Until clients have heard so many more answers."""
        file = self.evidence / "history" / "sender.jsonl"
        deadline = time.monotonic() + seconds
        wanted = _answers(file) + more
        while _answers(file) < wanted:
            if time.monotonic() > deadline:
                raise TimeoutError(f"clients heard fewer than {more} answers in {seconds:g} s")
            time.sleep(0.02)

    def finish(self) -> None:
        """Waits until nothing waits any more, as long as it may take, and writes the evidence."""
        remains = Remains.of_site(self.folder / "site.json")
        deadline = time.monotonic() + DRAIN_SECONDS
        while remains.waiting() and time.monotonic() < deadline:
            time.sleep(0.1)
        remains.write(self.evidence)
        remains.close()
        self._journal.close()

    def _workload(self, rate: float, poison: float, mix: dict[str, float]) -> Child:
        arguments = ["--site", str(self.folder / "site.json"), "--client", "client_001"]
        arguments += ["--name", "sender", "--history", str(self.evidence / "history")]
        arguments += ["--seed", str(self._seed), "--seconds", str(MOST_SECONDS)]
        arguments += ["--rate", str(rate), "--poison", str(poison), "--mix", json.dumps(mix)]
        return Child(
            "workload",
            [sys.executable, "-m", "tests.chaos.workload", *arguments],
            log=self.folder / "workload.log",
            folder=ROOT,
            environment=clean_environment(),
        )

    def _describe(self) -> None:
        """The rig in the words of a chaos site's `site.json`."""
        pki = self.rig.place.pki
        about = {
            "ca": str(pki / "ca.pem"),
            "clients": {
                "client_001": {
                    "cert": str(pki / "client_001.pem"),
                    "key": str(pki / "client_001.key"),
                }
            },
            "proxies": {"proxy": {"host": "127.0.0.1", "port": self.rig.ports.proxy}},
            "redis": self.rig.redis_server.url(),
            "database": self.rig.maria_server.url("gatepost_migrate"),
            "main_server_config": str(self.rig.place.config / "main_server.yaml"),
        }
        (self.folder / "site.json").write_text(json.dumps(about, indent=1))

    def _watch(self) -> None:
        url = self.rig.engine.url
        with pymysql.connect(
            host=url.host or "",
            port=url.port or 0,
            user=url.username,
            password=url.password or "",
            database=url.database,
        ) as connection:
            watch_status(connection)


def _answers(file: Path) -> int:
    return file.read_text().count('{"type":"ok"') if file.exists() else 0


def check(evidence: Path) -> "subprocess.CompletedProcess[str]":
    """The verdict of the checker of this tree, whatever tree the evidence is from."""
    command = [sys.executable, "-m", "tests.chaos.checker", str(evidence)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
