"""A bed for scenes: a rig of real processes, load, a journal of what was broken, and at the end the
files that the checker judges.
"""

import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pymysql

from infra.dev.child import Child
from infra.dev.engines.find import clean_environment
from infra.dev.paths import ROOT
from tests.acceptance.two_stores.rig import Rig
from tests.chaos.digests import new_key
from tests.chaos.disk import Disk
from tests.chaos.dump import Remains
from tests.chaos.journal import Journal
from tests.chaos.refusals import refuse_changes, refuse_no_more
from tests.chaos.transitions import watch_status
from tests.heard import wait_until

DRAIN_SECONDS = 12.0
MOST_SECONDS = 120.0
"""Of load: a scene ends it earlier."""


class Bed:
    """In `folder`: the rig's files, and `evidence/` for the checker."""

    def __init__(self, rig: Rig, folder: Path, disk: Disk | None = None, seed: int = 1) -> None:
        self.rig = rig
        self.disk = disk
        self.folder = folder
        self.evidence = folder / "evidence"
        self.evidence.mkdir()
        self.drain_seconds = DRAIN_SECONDS
        self.sender = "sender"
        self._seed = seed
        self._journal = Journal(self.evidence)
        self._describe()
        with self.ledger() as connection:
            watch_status(connection)

    @contextmanager
    def load(self, rate: float = 80.0, poison: float = 0.0, **mix: float) -> Iterator[None]:
        """Clients post as long as this lasts, and are then waited for."""
        workload = self._workload(rate, poison, {"repeat_within": 1.0} | mix)
        workload.start()
        try:
            self.wait_heard(30)
            yield
        finally:
            workload.stop(30)

    @contextmanager
    def fault(
        self, name: str, target: str, *, destroyed: bool = False, held: Sequence[str] = ()
    ) -> Iterator[None]:
        self._journal.begin(name, target, destroyed=destroyed, held=held)
        try:
            yield
        finally:
            self._journal.end(name, target)

    @contextmanager
    def without_main_server(self) -> Iterator[None]:
        with self.fault("kill", "main_server"):
            self.rig.kill("main_server")
            yield
            self.rig.start("main_server")

    @contextmanager
    def refusing(self, event: str, condition: str, errno: int) -> Iterator[None]:
        """As long as this lasts the ledger refuses such changes of `messages`, by this error."""
        with self.ledger() as connection:
            refuse_changes(connection, event, condition, errno)
            try:
                yield
            finally:
                refuse_no_more(connection)

    def wipe(self) -> None:
        """All of Redis's data is gone, and we say so."""
        with self.fault("flushall", "redis", destroyed=True):
            self.rig.redis.flushall()

    def wait_heard(self, more: int, seconds: float = 30.0) -> None:
        """Until so many more posts have come to their end, whatever that was."""
        wanted = self._heard() + more
        wait_until(lambda: self._heard() >= wanted, seconds)

    @contextmanager
    def ledger(self) -> Iterator["pymysql.Connection[Any]"]:
        """As one who may change tables."""
        url = self.rig.engine.url
        with pymysql.connect(
            host=url.host or "",
            port=url.port or 0,
            user=url.username,
            password=url.password or "",
            database=url.database,
            autocommit=True,
        ) as connection:
            yield connection

    def finish(self) -> None:
        """Waits until nothing waits any more, as long as it may take, and writes the evidence."""
        remains = Remains.of_site(self.folder / "site.json")
        deadline = time.monotonic() + self.drain_seconds
        while remains.waiting() and time.monotonic() < deadline:
            time.sleep(0.1)
        remains.write(self.evidence)
        remains.close()
        self._journal.close()

    def _heard(self) -> int:
        file = self.evidence / "history" / f"{self.sender}.jsonl"
        if not file.exists():
            return 0
        text = file.read_text()
        return text.count("\n") - text.count('{"type":"invoke"')

    def _workload(self, rate: float, poison: float, mix: dict[str, float]) -> Child:
        arguments = ["--site", str(self.folder / "site.json"), "--client", "client_001"]
        arguments += ["--name", self.sender, "--history", str(self.evidence / "history")]
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
        pair = {"cert": str(pki / "client_001.pem"), "key": str(pki / "client_001.key")}
        about = {
            "ca": str(pki / "ca.pem"),
            "clients": {"client_001": pair},
            "proxies": {"proxy": {"host": "127.0.0.1", "port": self.rig.ports.proxy}},
            "redis": self.rig.redis_server.url(),
            "database": self.rig.maria_server.url("gatepost_migrate"),
            "main_server_config": str(self.rig.place.config / "main_server.yaml"),
            "digest_key": new_key(),
            "portal": {
                "url": f"https://127.0.0.1:{self.rig.ports.main_server}",
                "ca": str(pki / "ca.pem"),
                "cert": str(pki / "portal-client.pem"),
                "key": str(pki / "portal-client.key"),
                "password_file": str(self.rig.place.admin_password),
            },
        }
        (self.folder / "site.json").write_text(json.dumps(about, indent=1))
