"""The services as real processes, each with wires of its own to what it talks to: every connection
can be cut at an instant that the test chooses, and every process killed as it sends a given byte.

Nobody starts again what has ended: the test does.
"""

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit
from uuid import UUID

import httpx
import redis
import yaml
from pydantic import SecretStr
from sqlalchemy import Engine, text

from gatepost.queue.scripts import assemble, read_clock
from gatepost.trust.revocation import KEY
from gatepost.trust.tls import TlsFiles, client_context
from infra.dev.child import Child
from infra.dev.configuration import write_configuration
from infra.dev.engines import Engines, MariaServer, RedisServer
from infra.dev.place import Place, session
from infra.dev.ports import HOST, Ports, free_base, free_port
from infra.dev.private import private_folder, write_private
from infra.dev.services import not_ready, service, wait_until_ready
from infra.dev.stores import Stores
from infra.dev.supervisor import seed
from main_server.settings import Database
from main_server.store.database import create_ledger_engine, transact
from tests.factories import BODY, NUMBER
from tests.heard import wait_until
from tests.wire import Fault, Wire

MESSAGES = "/api/v1/messages"
QUEUE = "example.com:messages"
"""The development domain's own queue."""

OPS = {"proxy": "proxy_ops", "worker": "worker_ops", "main_server": "main_server_ops"}


class Rig:
    """`wires` are named by who calls whom: "proxy-redis", "worker-main", "main-ledger" …"""

    def __init__(self, engines: Engines, folder: Path) -> None:
        self.place = Place(private_folder(folder))
        private_folder(self.place.run)
        private_folder(self.place.logs)
        self.ports = Ports.at(free_base())
        self.redis_server = RedisServer(engines, folder / "redis")
        self.maria_server = MariaServer(engines, folder / "mariadb")
        self.wires: dict[str, Wire] = {}
        self.children: dict[str, Child] = {}

    def __enter__(self) -> Self:
        self.redis_server.launch()
        self.maria_server.launch()
        self.redis_server.wait()
        self.maria_server.wait()
        for who in ("proxy", "worker", "main"):
            self.wire(f"{who}-redis", self.redis_server.port)
        self.wire("main-ledger", self.maria_server.port)
        for who in ("proxy", "worker"):
            self.wire(f"{who}-main", self.ports.main_server)
        write_configuration(self.place, self.ports, Stores(self._redis_url, self._database_url))
        for who in ("proxy", "worker"):
            self.configure(who, "main_server", url=f"https://{HOST}:{self.port(f'{who}-main')}")
        self.configure("proxy", "server", workers=1)
        self.configure("worker", "worker", concurrency=1)
        seed(self.place)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for child in self.children.values():
            child.kill()
        for wire in self.wires.values():
            wire.__exit__(None, None, None)
        self.engine.dispose()
        for server in (self.redis_server, self.maria_server):
            with suppress(ProcessLookupError):
                os.kill(server.pid, signal.SIGCONT)
            server.kill()

    def wire(self, name: str, upstream: int) -> Wire:
        self.wires[name] = Wire(upstream)
        return self.wires[name].__enter__()

    def port(self, wire: str) -> int:
        return self.wires[wire].port

    def _redis_url(self, user: str) -> str:
        wire = f"{user.removeprefix('gatepost_')}-redis"
        return at_port(self.redis_server.url(user), self.port(wire))

    def _database_url(self, user: str) -> str:
        """Migrations go straight to it."""
        url = self.maria_server.url(user)
        return at_port(url, self.port("main-ledger")) if user == "gatepost_main" else url

    def configure(self, name: str, section: str, **values: Any) -> None:
        """Changes a service's settings for its next start."""
        file = self.place.config / f"{name}.yaml"
        tree = yaml.safe_load(file.read_text())
        tree.setdefault(section, {}).update(values)
        write_private(file, yaml.safe_dump(tree))

    def start(self, *names: str) -> None:
        """Starts these services, until they are ready."""
        for name in names:
            self.launch(name)
        for name in names:
            wait_until_ready(self.children[name], self.ops_port(name))

    def launch(self, name: str) -> Child:
        """Without waiting. What it writes to temporary files is below our folder, too."""
        child = service(self.place, name)
        folder = private_folder(self.place.folder / "tmp")
        child.environment = {**child.environment, "TMPDIR": str(folder)}
        child.start()
        self.children[name] = child
        return child

    def set_aside(self, name: str, other: str) -> None:
        """From now on this running service goes by another name, and a new one can take its."""
        self.children[other] = self.children.pop(name)
        (self.place.run / f"{name}.lock").rename(self.place.run / f"{other}.lock")
        config = self.place.config / f"{name}.yaml"
        write_private(self.place.config / f"{other}.yaml", config.read_text())
        self.configure(name, "ops", port=free_port())

    def setting(self, name: str, section: str, key: str) -> Any:
        tree = yaml.safe_load((self.place.config / f"{name}.yaml").read_text())
        return tree[section][key]

    def ops_port(self, name: str) -> int:
        return int(self.setting(name, "ops", "port"))

    def ready(self, name: str) -> bool:
        return not_ready(self.ops_port(name)) is None

    def stop(self, *names: str) -> None:
        for name in names:
            self.children.pop(name).stop(30)

    def kill(self, name: str) -> None:
        """SIGKILL to a service, all of its processes at once: as if its machine were gone."""
        self.children.pop(name).kill()

    def processes(self, name: str) -> list[int]:
        """The children of a service's supervisor."""
        return session(self.children[name].pid)[1:]

    def kill_when(self, name: str, wire: str, holds: bytes, fault: Fault = Fault.NONE) -> None:
        """SIGKILL to a service at the instant at which it sends these bytes; they may get lost."""
        leader = self.children[name].pid

        def rule(request: bytes) -> Fault:
            if holds not in request:
                return Fault.NONE
            with suppress(ProcessLookupError):
                os.killpg(leader, signal.SIGKILL)
            return fault

        self.wires[wire].rule = rule

    def wait_killed(self, name: str) -> None:
        child = self.children.pop(name)
        wait_until(lambda: child.exit_code() is not None, 20)
        child.kill()

    @contextmanager
    def frozen(self, *wires: str) -> Iterator[None]:
        for name in wires:
            self.wires[name].freeze()
        try:
            yield
        finally:
            for name in wires:
                self.wires[name].thaw()

    @contextmanager
    def refused(self, *wires: str) -> Iterator[None]:
        for name in wires:
            self.wires[name].refuse()
        try:
            yield
        finally:
            for name in wires:
                self.wires[name].accept()

    @contextmanager
    def hanging(self, server: RedisServer | MariaServer) -> Iterator[None]:
        """A store that takes connections and answers nothing."""
        os.killpg(server.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.killpg(server.pid, signal.SIGCONT)

    @contextmanager
    def client(self, port: int | None = None, timeout: float = 30.0) -> Iterator[httpx.Client]:
        pki = self.place.pki
        files = TlsFiles(pki / "client_001.pem", pki / "client_001.key", pki / "ca.pem")
        url = f"https://{HOST}:{port or self.ports.proxy}"
        with httpx.Client(
            base_url=url, verify=client_context(files), timeout=timeout, trust_env=False
        ) as client:
            yield client

    @cached_property
    def engine(self) -> Engine:
        """The ledger, straight."""
        url = SecretStr(self.maria_server.url("gatepost_migrate"))
        return create_ledger_engine(Database(url=url))

    @cached_property
    def redis(self) -> redis.Redis:
        """Redis, straight, as one who may do everything."""
        return redis.Redis.from_url(self.redis_server.url())

    def sql(self, statement: str, **values: Any) -> list[dict[str, Any]]:
        def run(connection: Any) -> list[dict[str, Any]]:
            result = connection.execute(text(statement), values)
            return [dict(row) for row in result.mappings()] if result.returns_rows else []

        return transact(self.engine, run)

    def age(self, seconds: int = 10) -> None:
        """What waits by the ledger has been due for so much longer: the reconciler looks at it."""
        self.sql("UPDATE messages SET due_at = due_at - INTERVAL :n SECOND", n=seconds)

    def rows(self, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """What the ledger says of these messages."""
        found = self.sql("SELECT * FROM messages")
        named = {str(UUID(bytes=row["message_id"])): row for row in found}
        return {one: named[one] for one in ids if one in named}

    def states(self, ids: Sequence[str]) -> dict[str, int]:
        """How many of them are in which state; "missing" are those that the ledger doesn't know."""
        rows, counted = self.rows(ids), {"missing": 0}
        for one in ids:
            state = rows[one]["status"] if one in rows else "missing"
            counted[state] = counted.get(state, 0) + 1
        return {state: count for state, count in counted.items() if count}

    def wait_states(self, ids: Sequence[str], seconds: float = 20.0, **wanted: int) -> None:
        """Until so many of them are in each of these states, and none in another."""
        with suppress(AssertionError):
            wait_until(lambda: self.states(ids) == wanted, seconds)
        assert self.states(ids) == wanted

    def wait_delivered(self, ids: Sequence[str], seconds: float = 20.0) -> None:
        self.wait_states(ids, seconds, delivered=len(ids))

    def key(self, name: str) -> str:
        return f"{{{QUEUE}/0}}:{name}"

    def exposed(self) -> set[str]:
        found: Any = self.redis.smembers(self.key("exposed"))
        return {str(UUID(bytes=one)) for one in found}

    def waiting(self) -> int:
        """How many messages Redis holds, wherever they are."""
        return int(self.redis.hlen(self.key("payload")))

    def leased(self) -> int:
        return int(self.redis.zcard(self.key("leased")))

    def delivered_twice(self, ids: Sequence[str]) -> list[str]:
        """Those of them of which workers were told more than once that they are delivered now."""
        told: Counter[str] = Counter()
        for file in self.place.logs.glob("worker*.log"):
            for line in file.read_text(errors="replace").splitlines():
                if '"delivery.attempted"' in line and '"delivered"' in line:
                    told[json.loads(line)["message_id"]] += 1
        return [one for one in ids if told[one] > 1]

    def log(self, name: str) -> str:
        return self.place.log(name).read_text(errors="replace")

    def settle(self, client: httpx.Client) -> str:
        """Until messages are committed in both stores (again): the last one that it took."""
        answers: list[dict[str, Any]] = []

        def full() -> bool:
            answers.append(post(client).json())
            return answers[-1].get("durability") == "full"

        wait_until(full, 20)
        return str(answers[-1]["message_id"])

    def heal(self) -> None:
        for wire in self.wires.values():
            wire.heal()
            wire.thaw()
            wire.accept()

    def clear(self) -> None:
        """Stores empty of messages."""
        self.empty_redis()
        for table in ("messages", "attempts", "idempotency", "redrives"):
            self.sql(f"DELETE FROM {table}")

    def empty_redis(self) -> None:
        """What is revoked stays told."""
        told: Any = self.redis.hgetall(KEY)
        self.redis.flushall()
        if told:
            self.redis.hset(KEY, mapping=told)


def at_port(url: str, port: int) -> str:
    """The same address by way of a wire."""
    old = urlsplit(url).port
    return url.replace(f":{old}/", f":{port}/")


def script(name: str) -> bytes:
    """How a script of the queue is called: by the hash of its text."""
    return assemble(name, read_clock()).sha.encode()


def submission(**given: Any) -> dict[str, Any]:
    return {"sender_number": NUMBER, "message_body": BODY} | given


def post(client: httpx.Client, key: str | None = None, **given: Any) -> httpx.Response:
    headers = {"idempotency-key": key} if key else {}
    return client.post(MESSAGES, json=submission(**given), headers=headers)


def accepted(answer: httpx.Response) -> tuple[str, str]:
    """The id, and how durable the message was said to be."""
    assert answer.status_code == 202, answer.text
    told = answer.json()
    return told["message_id"], told["durability"]


def problem(answer: httpx.Response) -> str:
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    return str(answer.json()["type"]).removeprefix("urn:gatepost:problem:")


def timed(call: Callable[[], httpx.Response]) -> tuple[httpx.Response, float]:
    started = time.monotonic()
    return call(), time.monotonic() - started
