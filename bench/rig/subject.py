"""What is measured: Gatepost, Gatepost one message at a time, and the plainest that could work.

Each runs on its own ports and folders, on the same engines with the same settings for durability.
"""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import redis
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import Engine, NullPool, create_engine, text
from sqlalchemy.exc import OperationalError

from bench.rig.machine import age
from gatepost.clock import Clock, ledger_time
from gatepost.ids import MessageIds
from gatepost.queue import Entry, Queues, connect
from infra.dev.ports import free_port
from infra.dev.services import not_ready
from infra.dev.stack import Stack
from main_server.messages.repository import AcceptedBy, insert_queued

REFRESH_SECONDS = 2.5
QUEUE = "example.com:messages"
PARKED = b"x" * 700
"""As long as an envelope; nobody looks into it before it is due."""

SERVICES = ("proxy", "main_server", "worker", "redis", "mariadb")


@dataclass
class Subject:
    """A running system under load, and the questions that a measurement asks of it."""

    port: int
    ca: Path
    cert: Path
    key: Path
    engine: Engine
    roots: dict[str, int]
    """The first process of each service; its children count with it."""
    start_seconds: float
    stack: Stack
    log: Path
    """Where the variants write what they have to say."""
    table: str = "messages"
    complete: bool = True
    """Whether it has batches and leases, so that all measurements make sense."""
    parked: int = 0
    """Messages that wait for their time and are not to be waited for."""
    stopped: list[int] = field(default_factory=list)

    def pids(self) -> dict[str, list[int]]:
        return {name: [pid, *_children(pid)] for name, pid in self.roots.items()}

    def delivered(self) -> int:
        return self._count("status = 'delivered'")

    def undelivered(self) -> int:
        return self._count("status = 'queued'") - self.parked

    def wait_until_delivered(self, timeout: float = 120) -> None:
        deadline = time.monotonic() + timeout
        while self.undelivered():
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self.undelivered()} messages are still not delivered")
            time.sleep(0.05)

    def now(self) -> datetime:
        with self.engine.connect() as connection:
            found: datetime = connection.execute(text("SELECT UTC_TIMESTAMP(3)")).scalar_one()
            return found

    def delivery_latency(self, since: datetime) -> dict[str, Any]:
        query = text(
            "SELECT TIMESTAMPDIFF(MICROSECOND, queued_at, delivered_at) / 1000 AS ms"
            f" FROM {self.table} WHERE queued_at >= :since AND status = 'delivered' ORDER BY ms"
        )
        with self.engine.connect() as connection:
            waits = [float(row[0]) for row in connection.execute(query, {"since": since})]
        return {
            "messages": len(waits),
            "mean_ms": round(sum(waits) / len(waits), 2),
            **{f"p{p}_ms": round(waits[int(p / 100 * (len(waits) - 1))], 1) for p in (50, 95, 99)},
        }

    def ledger_commits(self) -> dict[float, float]:
        """How many of the proxy's commits in the ledger have taken at most so many seconds: each is
        a call of the main server, for all messages that share it, with its transaction."""
        with urllib.request.urlopen(self.stack.status()["metrics"]["proxy"][0], timeout=5) as said:
            families = list(text_string_to_metric_families(said.read().decode()))
        (found,) = (one for one in families if one.name == "gatepost_proxy_commit_seconds")
        return {
            float(sample.labels["le"]): sample.value
            for sample in found.samples
            if sample.name.endswith("_bucket") and sample.labels["store"] == "ledger"
        }

    def pause_workers(self) -> None:
        self.stopped = self.pids()["worker"]
        for pid in self.stopped:
            os.kill(pid, signal.SIGSTOP)

    def resume_workers(self) -> None:
        for pid in self.stopped:
            os.kill(pid, signal.SIGCONT)
        self.stopped = []

    def park(self, messages: int) -> None:
        """Puts messages into both stores that wait for an attempt in an hour's time (I4)."""
        source, due = MessageIds(Clock()), Clock().now_ms() + 3_600_000
        ids = [source.new().bytes for _ in range(messages)]
        with self.engine.begin() as connection:
            for first in range(0, messages, 1000):
                rows = [_parked_row(id_, due) for id_ in ids[first : first + 1000]]
                insert_queued(connection, rows, AcceptedBy.QUEUE)
        self.parked = messages
        asyncio.run(_park(self.stack.status()["redis"], ids, due))

    def restart(self, service: str) -> float:
        """Kills a service: how long the next one takes, from its first instruction until ready."""
        former = self.roots[service]
        os.kill(former, signal.SIGKILL)
        self.engine.dispose()
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            status = self.stack.place.status() or {"pids": {}}
            pids = status["pids"].get(service) or [former]
            if pids[0] != former and _answers(service, status):
                self.roots[service] = pids[0]
                return round(age(pids[0]), 2)
            time.sleep(0.01)
        raise TimeoutError(f"{service} does not come back")

    def _count(self, condition: str) -> int:
        with self.engine.connect() as connection:
            query = text(f"SELECT COUNT(*) FROM {self.table} WHERE {condition}")
            return int(connection.execute(query).scalar_one())


@contextmanager
def subjects(name: str, folder: Path) -> Iterator[Subject]:
    """Starts the subject of that name, with the limits of its one client out of the way."""
    started = time.monotonic()
    with Stack(folder) as stack:
        status = stack.status()
        engine = create_engine(status["database"])
        with engine.begin() as connection:
            connection.execute(text("UPDATE clients SET rate_per_second=1000000, burst=10000000"))
            connection.execute(text("UPDATE domains SET max_undelivered=100000000"))
        subject = Subject(
            port=int(status["proxy"].rpartition(":")[2]),
            ca=Path(status["ca"]),
            cert=Path(status["client"]["cert"]),
            key=Path(status["client"]["key"]),
            engine=engine,
            roots={service: status["pids"][service][0] for service in SERVICES},
            start_seconds=time.monotonic() - started,
            stack=stack,
            log=folder / f"bench-{name}.log",
        )
        time.sleep(REFRESH_SECONDS)  # until the proxies have the new limits
        if name == "gatepost":
            yield subject
        else:
            with _instead(name, subject, folder, status):
                yield subject
        engine.dispose()


@contextmanager
def _instead(name: str, subject: Subject, folder: Path, status: dict[str, Any]) -> Iterator[None]:
    """Another proxy and another worker on the same engines, while Gatepost's own stand still."""
    own = [pid for service in ("proxy", "worker") for pid in subject.pids()[service]]
    for pid in own:
        os.kill(pid, signal.SIGSTOP)
    started = time.monotonic()
    subject.port = free_port()
    subject.complete = False
    subject.table = "plain_messages" if name == "plain" else "messages"
    command = [sys.executable, "-m", f"bench.rig.{name}", str(folder), str(subject.port)]
    children: dict[str, subprocess.Popen[bytes]] = {}
    try:
        with subject.log.open("w") as log:
            for service in ("proxy", "worker"):  # the first to come makes the tables
                child = subprocess.Popen(
                    [*command, service], stdin=subprocess.PIPE, stdout=log, stderr=log
                )
                children[service] = child
                assert child.stdin is not None
                child.stdin.write(json.dumps(status).encode())  # the URLs hold passwords
                child.stdin.close()
                wait_for_port(subject.port)
        subject.start_seconds = time.monotonic() - started
        subject.roots |= {service: child.pid for service, child in children.items()}
        yield
    finally:
        for child in children.values():
            child.terminate()
        for child in children.values():
            child.wait(30)
        for pid in own:
            os.kill(pid, signal.SIGCONT)


async def _park(url: str, ids: list[bytes], due: int) -> None:
    async with connect(url) as store:
        queue = Queues(store, QUEUE).named(None)
        for first in range(0, len(ids), 1000):
            some = ids[first : first + 1000]
            await queue.enqueue([Entry(id_, PARKED, due_at=due, attempts=1) for id_ in some])
        if (await queue.stats()).delayed != len(ids):
            raise RuntimeError("what was to wait doesn't")


def _parked_row(id_: bytes, due: int) -> dict[str, Any]:
    """As register would have written it, but for a body that nobody will open."""
    now, then, end = (ledger_time(ms) for ms in (Clock().now_ms(), due, due + 86_400_000))
    return {
        "message_id": id_,
        "client_id": "example.com:client_001",
        "domain": "example.com",
        "cert_fingerprint": bytes(32),
        "sender_number_hashed": id_ * 2,
        "hmac_kid": bytes(8),
        "encrypted_body": PARKED[:200],
        "key_id": 1,
        "created_at": now,
        "queued_at": now,
        "due_at": then,
        "expires_at": end,
        "client_timestamp": None,
        "queue": QUEUE,
        "priority": 5,
        "ordering_key": None,
    }


def _answers(service: str, status: dict[str, Any]) -> bool:
    """Whether it does its work: a service by its /readyz, a store by answering."""
    try:
        if service == "redis":
            with redis.Redis.from_url(status["redis"]) as store:
                return bool(store.ping())
        if service == "mariadb":
            engine = create_engine(status["database"], poolclass=NullPool)
            with engine.connect():
                return True
        port = urlsplit(status["metrics"][service][0]).port
        return port is not None and not_ready(port) is None
    except (redis.RedisError, OperationalError):
        return False


def wait_for_port(port: int) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError(f"nothing listens on port {port}")


def _children(pid: int) -> list[int]:
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False)
    return [int(child) for child in found.stdout.split()]
