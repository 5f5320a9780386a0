"""The services of a run: two of each kind, each a supervisor with its children on a node of its
own, each with wires of its own to what it talks to.
"""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import yaml

from gatepost.trust.identity import Identity, Role
from infra.dev.child import Child
from infra.dev.configuration import write_configuration
from infra.dev.place import Place
from infra.dev.ports import Ports, free_base
from infra.dev.private import private_folder, write_private
from infra.dev.seed import DOMAIN, HOSTS, LIFETIME
from infra.dev.services import not_ready, service
from infra.dev.stores import Stores
from main_server.ca.authority import Order, Usage
from tests.chaos.network import Node

MODULES = {"main": "main_server", "proxy": "proxy", "worker": "worker"}
PROCESSES = {"main": 1, "proxy": 1, "worker": 2}
"""Of each of the two services of a kind."""
CLIENTS = ("client_001", "client_002", "client_003", "client_004")
LEAVERS = ("leaver_001", "leaver_002", "leaver_003")
"""Clients as well, of which each is revoked some day."""
PORTAL = "portal-1-client"
"""No portal runs: its certificate is there to ask what it would show."""
AGE = timedelta(days=61)
"""Of all certificates: so each can be renewed, and has weeks until it must."""


@dataclass(frozen=True)
class Service:
    name: str
    kind: str
    node: Node
    ports: Ports
    child: Child

    @property
    def ops_port(self) -> int:
        return self.ports.ops()[MODULES[self.kind]]

    @property
    def port(self) -> int:
        """Where it takes what it is there for; workers listen nowhere."""
        return self.ports.main_server if self.kind == "main" else self.ports.proxy

    def missing(self) -> str | None:
        """What it misses to be ready; None when it is content."""
        return not_ready(self.ops_port, self.node.address)


def orders(hub: str) -> dict[str, Order]:
    """The certificates of a run. Servers are called by the address of the wires."""
    hosts = (*HOSTS, hub)
    found = {}
    for n in (1, 2):
        main, proxy = _ours(Role.MAIN, f"main-{n}"), _ours(Role.PROXY, f"proxy-{n}")
        found[f"main-{n}"] = Order(main, Usage.SERVER, LIFETIME, hosts)
        found[f"proxy-{n}"] = Order(proxy, Usage.SERVER, LIFETIME, hosts)
        found[f"proxy-{n}-client"] = Order(proxy, Usage.CLIENT, LIFETIME)
        worker = _ours(Role.WORKER, f"worker-{n}")
        found[f"worker-{n}-client"] = Order(worker, Usage.CLIENT, LIFETIME)
    found[PORTAL] = Order(_ours(Role.PORTAL, "portal-1"), Usage.CLIENT, LIFETIME)
    for name in (*CLIENTS, *LEAVERS):
        found[name] = Order(Identity(DOMAIN, Role.CLIENT, name), Usage.CLIENT, LIFETIME)
    return found


def _ours(role: Role, name: str) -> Identity:
    return Identity("gatepost", role, name)


def make_service(place: Place, name: str, node: Node, tree: Path) -> Service:
    """Not started. It runs the code of `tree`."""
    kind = name.partition("-")[0]
    child = service(place, MODULES[kind])
    child.name, child.log, child.lock = name, place.log(name), place.run / f"{name}.lock"
    child.command = [*node.prefix, *child.command[:-1], str(place.config / f"{name}.yaml")]
    temporary = str(private_folder(place.folder / "tmp"))
    child.environment = {
        **child.environment, "PYTHONPATH": str(tree), "TMPDIR": temporary
    }  # fmt: skip
    return Service(name, kind, node, Ports.at(free_base()), child)


def write_templates(place: Place, stores: Stores) -> None:
    """What a development stack would be told; each service's own settings are made of it."""
    write_configuration(place, Ports.at(free_base()), stores)


def configure(place: Place, one: Service, links: dict[str, str]) -> None:
    """`links` are URLs: redis, main and ledger, by way of this service's own wires."""
    tree = yaml.safe_load((place.config / f"{MODULES[one.kind]}.yaml").read_text())
    listen = {"host": one.node.address}
    tree["ops"] |= listen | {"port": one.ops_port}
    tree["redis"]["url"] = links["redis"]
    if one.kind in ("main", "proxy"):
        tree["server"] |= listen | {"port": one.port, "workers": PROCESSES[one.kind]}
        tree["tls"] |= _pair(place, one.name)
    if one.kind == "main":
        tree["pki"] |= listen | {"port": one.ports.pki}
        tree["database"]["url"] = links["ledger"]
    else:
        tree["main_server"] |= _pair(place, f"{one.name}-client") | {"url": links["main"]}
    if one.kind == "proxy":
        tree["cache"]["folder"] = str(place.folder / one.name)
    if one.kind == "worker":
        tree["worker"] |= {"concurrency": PROCESSES["worker"]}
    write_private(place.config / f"{one.name}.yaml", yaml.safe_dump(tree, sort_keys=False))


def _pair(place: Place, name: str) -> dict[str, Any]:
    return {
        "cert_file": str(place.pki / f"{name}.pem"),
        "key_file": str(place.pki / f"{name}.key"),
    }
