"""The whole stack as real processes, with everything in reach that can be broken.

Two proxies, two main servers, two workers of two processes each, redis-server and mariadbd; each on
a node of its own where root allows it, both stores on one disk. Between any two of them is a wire.
What ends is started again by the keeper, as systemd would.
"""

import json
import os
import signal
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Self

import redis
from sqlalchemy import Engine

from gatepost.config.settings import load
from infra.dev.engines import Engines, find_engines
from infra.dev.engines.find import clean_environment
from infra.dev.first_admin import ensure_admin
from infra.dev.paths import ROOT
from infra.dev.place import Place, session
from infra.dev.private import private_folder
from infra.dev.seed import seed
from infra.dev.steps import Failure
from infra.dev.stores import Stores
from main_server.settings import DatabaseOnly, MainServerSettings
from main_server.store.database import create_ledger_engine
from tests.chaos.digests import new_key
from tests.chaos.disk import Disk
from tests.chaos.journal import Journal
from tests.chaos.keeper import Keeper
from tests.chaos.network import Firewall, Network, Node, Tools
from tests.chaos.services import (
    AGE,
    CLIENTS,
    LEAVERS,
    PORTAL,
    Service,
    configure,
    make_service,
    orders,
    write_templates,
)
from tests.chaos.stores import ChaosMaria, ChaosRedis
from tests.chaos.transitions import watch_status
from tests.wire import Wire

SERVICES = ("main-1", "main-2", "proxy-1", "proxy-2", "worker-1", "worker-2")
STORES = ("redis", "mariadb")
READY_SECONDS = 60.0


class Site:
    """In `folder`: settings, logs, the journal, and `site.json` for who sends and who asks.

    `tree` is the source that the services run from: a copy with a bug in it, for one.
    """

    def __init__(self, folder: Path, *, enclosed: bool, tree: Path = ROOT) -> None:
        self.place = Place(folder)
        self.tree = tree
        self.tools = Tools()
        self.network = Network(enclosed)
        self.disk = Disk(folder / "disk.img", folder / "disk") if enclosed else None
        self.journal = Journal(private_folder(folder))
        self.keeper = Keeper(self.journal)
        self.wires: dict[str, Wire] = {}
        self.services: dict[str, Service] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _start(self) -> None:
        self._stack.callback(self.journal.close)
        for folder in (self.place.run, self.place.logs):
            private_folder(folder)
        _let_others_through(self.place.folder)
        self._start_stores(find_engines())
        write_templates(self.place, Stores(self.redis.url, self.mariadb.url))
        for name in SERVICES:
            self.services[name] = make_service(self.place, name, self.network.node(name), self.tree)
        for one in self.services.values():
            self._connect(one)
        self._seed()
        self._start_services()
        self._describe()
        self.keeper.start()
        self._stack.callback(self.keeper.stop)

    def _start_stores(self, engines: Engines) -> None:
        data = self.place.folder / "disk"
        if self.disk is not None:
            self.disk.make()
            self._stack.callback(self.disk.image.unlink)
        nodes = {name: self.network.node(name) for name in STORES}
        logs = {name: self.place.log(name) for name in STORES}
        self.redis = ChaosRedis(
            engines, data / "redis", logs["redis"], nodes["redis"], self.tree
        )  # fmt: skip
        self.mariadb = ChaosMaria(
            engines, data / "mariadb", logs["mariadb"], nodes["mariadb"], self.tree
        )
        self.stores: dict[str, ChaosRedis | ChaosMaria] = {
            "redis": self.redis,
            "mariadb": self.mariadb,
        }
        for name, store in self.stores.items():
            store.launch()
            self._stack.callback(self._end_store, name)
            self.keeper.keep(name, store.child, store.launch)
        for store in self.stores.values():
            store.wait()
        os.sync()  # what is made once and never again is there after a power cut

    def _end_store(self, name: str) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.stores[name].pid, signal.SIGCONT)
        self.stores[name].kill()

    def _connect(self, one: Service) -> None:
        """Gives a service its wires, and its settings."""
        redis_wire = self._wire(f"{one.name}>redis", (self.redis.host, self.redis.port))
        user = "main" if one.kind == "main" else one.kind
        links = {"redis": _through(self.redis.url(f"gatepost_{user}"), self.redis, redis_wire)}
        if one.kind == "main":
            wire = self._wire(f"{one.name}>mariadb", (self.mariadb.host, self.mariadb.port))
            links["ledger"] = _through(self.mariadb.url("gatepost_main"), self.mariadb, wire)
        else:
            mains = [each for each in self.services.values() if each.kind == "main"]
            wire = self._wire(f"{one.name}>main", *((m.node.address, m.port) for m in mains))
            links["main"] = f"https://{wire.host}:{wire.port}"
        if one.kind == "proxy":
            self._wire(f"clients>{one.name}", (one.node.address, one.port))
        configure(self.place, one, links)

    def _wire(self, name: str, *upstreams: tuple[str, int]) -> Wire:
        self.wires[name] = self._stack.enter_context(Wire(*upstreams, host=self.network.hub))
        return self.wires[name]

    def _seed(self) -> None:
        config = self.place.config
        seed(
            load(MainServerSettings, config / "main-1.yaml"),
            load(DatabaseOnly, config / "migration.yaml").database,
            private_folder(self.place.pki),
            orders(self.network.hub),
            AGE,
        )
        ensure_admin(_engine(config / "migration.yaml"), self.place.admin_password)
        with self.mariadb.connect() as connection:
            watch_status(connection)

    def _start_services(self) -> None:
        for one in self.services.values():
            one.child.start()
            self._stack.callback(one.child.kill)
            self.keeper.keep(one.name, one.child, one.child.start)
        for one in self.services.values():
            self.wait_ready(one.name)

    def _describe(self) -> None:
        """`site.json`: all that a client process, the dump and the report want to know."""
        pki = self.place.pki
        gates = {name: self.wires[f"clients>{name}"] for name in ("proxy-1", "proxy-2")}
        about: dict[str, Any] = {
            "enclosed": self.network.enclosed,
            "folder": str(self.place.folder),
            "tree": str(self.tree),
            "ca": str(pki / "ca.pem"),
            "clients": {
                name: {"cert": str(pki / f"{name}.pem"), "key": str(pki / f"{name}.key")}
                for name in (*CLIENTS, *LEAVERS)
            },
            "proxies": {name: {"host": w.host, "port": w.port} for name, w in gates.items()},
            "redis": self.redis.url(),
            "database": self.mariadb.url("root"),
            "main_server_config": str(self.place.config / "main-1.yaml"),
            "digest_key": new_key(),
            "portal": {
                "url": f"https://{self.network.hub}:{self.wires['proxy-1>main'].port}",
                "ca": str(pki / "ca.pem"),
                "cert": str(pki / f"{PORTAL}.pem"),
                "key": str(pki / f"{PORTAL}.key"),
                "password_file": str(self.place.admin_password),
            },
        }
        (self.place.folder / "site.json").write_text(json.dumps(about, indent=1))

    @property
    def firewall(self) -> Firewall:
        """Only where there is one are there faults that ask for it."""
        firewall = self.tools.firewall
        assert firewall is not None
        return firewall

    def environment(self) -> dict[str, str]:
        """For a command of an operator: with the tree that is tested."""
        return {**clean_environment(), "PYTHONPATH": str(self.tree)}

    def child(self, name: str) -> Any:
        """The process of a service or a store."""
        return self.stores[name].child if name in self.stores else self.services[name].child

    def processes(self, name: str) -> list[int]:
        """All processes of a service or a store, its leader first."""
        return session(self.child(name).pid)

    def node(self, name: str) -> Node:
        return self.network.node(name)

    def missing(self, name: str) -> str | None:
        """Why it doesn't do its work; None when it does."""
        return self.stores[name].silence() if name in self.stores else self.services[name].missing()

    def wait_ready(self, name: str, seconds: float = READY_SECONDS) -> None:
        deadline = time.monotonic() + seconds
        while (missing := self.missing(name)) is not None:
            if time.monotonic() > deadline:
                words = self.child(name).last_words()
                raise Failure(f"{name} does not get ready ({missing}):\n{words}")
            time.sleep(0.05)

    def wait_all_ready(self, seconds: float = READY_SECONDS) -> None:
        deadline = time.monotonic() + seconds
        for name in (*STORES, *SERVICES):
            self.wait_ready(name, max(1.0, deadline - time.monotonic()))

    def operator(self) -> redis.Redis:
        """Redis, straight, as one who may do everything."""
        return redis.Redis.from_url(self.redis.url(), socket_timeout=10)

    def sql(self, statement: str) -> list[dict[str, Any]]:
        """The ledger, straight, as one who may do everything."""
        with self.mariadb.connect() as connection:
            cursor = connection.cursor()
            cursor.execute(statement)
            return list(cursor.fetchall())


def _engine(config: Path) -> Engine:
    """The ledger, as the one who makes its tables."""
    return create_ledger_engine(load(DatabaseOnly, config).database)


def _through(url: str, store: ChaosRedis | ChaosMaria, wire: Wire) -> str:
    """The same address by way of a wire."""
    return url.replace(f"@{store.host}:{store.port}/", f"@{wire.host}:{wire.port}/")


def _let_others_through(folder: Path) -> None:
    """MariaDB and Redis run as others than root, with their data below: they may pass through."""
    if os.geteuid() == 0:
        for each in (folder, folder.parent):
            each.chmod(0o711)
