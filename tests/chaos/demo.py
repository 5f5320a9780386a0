"""`./dev demo`: sixty seconds in which everything is killed under load, and what is left of it.

A stack of its own, in `var/demo`; the load, the dump and the checker are those of
`./dev chaos`.
"""

import json
import os
import re
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pymysql
import redis
from sqlalchemy import make_url
from sqlalchemy.exc import SQLAlchemyError

from infra.dev.child import Child
from infra.dev.engines.find import clean_environment
from infra.dev.options import stack as options
from infra.dev.paths import ROOT, VAR
from infra.dev.stack import Stack
from infra.dev.steps import Failure, give_up
from tests.chaos.checker.verdict import Verdict
from tests.chaos.digests import new_key
from tests.chaos.dump import Remains
from tests.chaos.journal import Journal
from tests.chaos.report import write_facts, write_report
from tests.chaos.transitions import watch_status

RATE = 80.0
LOAD_SECONDS = 45.0
DRAIN_SECONDS = 60.0
TICK_SECONDS = 2.0
_ACCEPTED = re.compile(r'"status":202,"message_id":"([^"]+)"')
SEED = 1
_GREEN, _RED, _BOLD, _PLAIN = "\x1b[32m", "\x1b[31m", "\x1b[1m", "\x1b[0m"


@dataclass(frozen=True)
class Act:
    """What is done in which second of the load."""

    at: float
    says: str
    target: str
    destroys: bool = False


ACTS = (
    Act(5, "kill -9 the workers, with messages in their hands", "worker"),
    Act(11, "kill -9 Redis", "redis"),
    Act(18, "FLUSHALL: everything that Redis had is gone", "redis", destroys=True),
    Act(24, "kill -9 MariaDB in mid-commit", "mariadb"),
    Act(32, "kill -9 the main server", "main_server"),
    Act(39, "kill -9 the proxy", "proxy"),
)
"""Those whose victims hold messages come first: a lease that nobody settles lasts 30 s."""


class Demo:
    def __init__(self, stack: Stack, folder: Path) -> None:
        self._stack = stack
        self._evidence = folder / "evidence"
        self._evidence.mkdir()
        self._site = folder / "site.json"
        self._describe()
        self._remains = Remains.of_site(self._site)
        self._journal = Journal(self._evidence)
        self._began = time.monotonic()

    def run(self) -> Verdict:
        write_facts(self._evidence, seed=SEED, where="./dev demo, on loopback")
        self._begin_watching()
        with self._load():
            for act in ACTS:
                self._show_until(act.at)
                self._do(act)
            self._show_until(LOAD_SECONDS)
        self._say("the load ends; whatever still waits is waited for")
        self._drain()
        self._remains.write(self._evidence)
        self._remains.close()
        self._journal.close()
        return write_report(self._evidence)

    def _begin_watching(self) -> None:
        """The stack has sent a message of its own; what follows is the clients' alone."""
        url = make_url(self._stack.status()["database"])
        with pymysql.connect(
            host=url.host or "",
            port=url.port or 0,
            user=url.username,
            password=str(url.password),
            database=url.database,
            autocommit=True,
        ) as connection:
            connection.cursor().execute("DELETE FROM messages")
            watch_status(connection)

    @contextmanager
    def _load(self) -> Iterator[None]:
        arguments = ["--site", str(self._site), "--client", "client_001", "--name", "demo"]
        arguments += ["--history", str(self._evidence / "history"), "--seed", str(SEED)]
        arguments += ["--seconds", str(LOAD_SECONDS), "--rate", str(RATE), "--poison", "0.5"]
        arguments += ["--mix", json.dumps({"repeat_within": 3.0})]
        load = Child(
            "the load",
            [sys.executable, "-m", "tests.chaos.workload", *arguments],
            log=self._evidence.parent / "load.log",
            folder=ROOT,
            environment=clean_environment(),
        )
        self._began = time.monotonic()
        self._say(f"{RATE:.0f} posts a second begin, over mutual TLS")
        load.start()
        try:
            yield
        finally:
            load.stop(30)

    def _do(self, act: Act) -> None:
        self._say(f"{_RED}{act.says}{_PLAIN}" if _coloured() else act.says)
        name = act.says.split(":")[0]
        self._journal.begin(name, act.target, destroyed=act.destroys)
        if act.destroys:
            redis.Redis.from_url(self._stack.status()["redis"]).flushall()
        else:
            os.killpg(self._stack.status()["pids"][act.target][0], signal.SIGKILL)
        self._journal.end(name, act.target)

    def _show_until(self, second: float) -> None:
        while (left := self._began + second - time.monotonic()) > 0:
            time.sleep(min(left, TICK_SECONDS))
            self._show()

    def _show(self) -> None:
        told = "".join(f.read_text() for f in (self._evidence / "history").glob("*.jsonl"))
        accepted = len(set(_ACCEPTED.findall(told)))
        delivered = _asked(self._remains.delivered)
        waiting = _asked(self._remains.waiting)
        self._say(f"    accepted {accepted:6,}   delivered {delivered:>6}   waiting {waiting:>5}")

    def _drain(self) -> None:
        deadline = time.monotonic() + DRAIN_SECONDS
        while self._remains.waiting() and time.monotonic() < deadline:
            time.sleep(TICK_SECONDS / 2)
            self._show()

    def _say(self, text: str) -> None:
        print(f"  {time.monotonic() - self._began:4.0f} s  {text}", flush=True)

    def _describe(self) -> None:
        status = self._stack.status()
        host, _, port = status["proxy"].removeprefix("https://").partition(":")
        about = {
            "ca": status["ca"],
            "clients": {"client_001": status["client"]},
            "proxies": {"proxy": {"host": host, "port": int(port)}},
            "redis": status["redis"],
            "database": status["database"],
            "main_server_config": str(self._stack.place.config / "main_server.yaml"),
            "digest_key": new_key(),
            "portal": {
                "url": status["main_server"],
                "ca": status["ca"],
                "cert": str(self._stack.place.pki / "portal-client.pem"),
                "key": str(self._stack.place.pki / "portal-client.key"),
                "password_file": status["admin"]["password_file"],
            },
        }
        self._site.write_text(json.dumps(about, indent=1))


def _asked(count: Callable[[], int]) -> str:
    """A store that was just killed has no answer."""
    try:
        return f"{count():,}"
    except (SQLAlchemyError, redis.RedisError):
        return "?"


def _coloured() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def tell(verdict: Verdict, report: Path) -> str:
    """The end: the line, and what it means."""
    colour = (_GREEN if verdict.green else _RED) + _BOLD if _coloured() else ""
    plain = _PLAIN if _coloured() else ""
    meaning = (
        "Every message that a client was told is accepted was delivered, once."
        if verdict.green
        else "That must not be. The report says which message, and why."
    )
    return (
        f"\n  {colour}{verdict.line()}{plain}\n\n  {meaning}\n"
        f"  {verdict.recovered:,} of them needed to be recovered;"
        f" the {verdict.failed:,} that failed are poison, put there on purpose.\n"
        f"  The report: {report}\n"
    )


def main() -> int:
    options.demo().parse_args()
    folder = VAR / "demo"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o711)  # where we are root the database is somebody else, and passes through
    print("Starting a stack for the demo", flush=True)
    with Stack(folder / "var") as stack:
        print("One minute under load, in which everything is killed\n", flush=True)
        verdict = Demo(stack, folder).run()
    shutil.rmtree(folder / "var")  # a ledger of nobody's
    print(tell(verdict, folder / "evidence" / "report.html"))
    return 0 if verdict.green else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        give_up(failure)
