"""The network of a run: each process in a network namespace with an address of its own, all of them
on one bridge in ours; or everything on loopback, where there is no enclosure.

What passes between two members passes over a `veth` and is at the mercy of that member's firewall.
"""

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from infra.dev import apt
from infra.dev.paths import ENGINES
from infra.dev.ports import HOST
from infra.dev.steps import Failure, run

BRIDGE = "hub"
SUBNET = "10.77.0"
NAMES = Path("/run/netns")


@dataclass(frozen=True)
class Node:
    """Where a process runs: its address, and what to put before its command."""

    name: str
    address: str
    prefix: Sequence[str] = ()


@dataclass
class Network:
    """`hub` is our own address, at which the wires listen."""

    enclosed: bool
    hub: str = field(init=False)
    _nodes: dict[str, Node] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.hub = f"{SUBNET}.1" if self.enclosed else HOST
        if not self.enclosed:
            return
        NAMES.mkdir(exist_ok=True)
        _do("mount", "-t", "tmpfs", "netns", str(NAMES))
        _do("ip", "link", "set", "lo", "up")
        _do("ip", "link", "add", BRIDGE, "type", "bridge")
        _do("ip", "address", "add", f"{self.hub}/24", "dev", BRIDGE)
        _do("ip", "link", "set", BRIDGE, "up")

    def node(self, name: str) -> Node:
        if name not in self._nodes:
            self._nodes[name] = self._make(name) if self.enclosed else Node(name, HOST)
        return self._nodes[name]

    def _make(self, name: str) -> Node:
        address = f"{SUBNET}.{10 + len(self._nodes)}"
        outer = f"to-{name}"
        _do("ip", "netns", "add", name)
        _do("ip", "link", "add", outer, "type", "veth", "peer", "name", "eth0", "netns", name)
        _do("ip", "link", "set", outer, "master", BRIDGE, "up")
        inside = ["ip", "-n", name]
        _do(*inside, "link", "set", "lo", "up")
        _do(*inside, "address", "add", f"{address}/24", "dev", "eth0")
        _do(*inside, "link", "set", "eth0", "up")
        return Node(name, address, ("nsenter", f"--net={NAMES / name}"))


@dataclass(frozen=True)
class Firewall:
    """Rules of iptables, in a node's own namespace; each is taken away as it was put there."""

    program: Path
    environment: dict[str, str]

    def add(self, node: Node, rule: str) -> None:
        self._call(node, "-A", rule)

    def remove(self, node: Node, rule: str) -> None:
        self._call(node, "-D", rule)

    def _call(self, node: Node, what: str, rule: str) -> None:
        command = [*node.prefix, str(self.program), "iptables", "--wait", what, *rule.split()]
        run("iptables", command, environment={**os.environ, **self.environment})


class Tools:
    """What a run wants beside the engines, unpacked like them: no root, nothing installed."""

    @cached_property
    def firewall(self) -> Firewall | None:
        """None where there is no iptables, or the kernel has none of it."""
        folder = _unpacked("iptables")
        if folder is None:
            return None
        libraries = next(folder.glob("usr/lib/*-linux-*"))
        where = {"LD_LIBRARY_PATH": str(libraries), "XTABLES_LIBDIR": str(libraries / "xtables")}
        return Firewall(folder / "usr" / "sbin" / "xtables-legacy-multi", where)

    @cached_property
    def faketime(self) -> Path | None:
        """The library that, loaded before others, tells a program another time."""
        folder = _unpacked("libfaketime")
        found = list(folder.glob("usr/lib/*/faketime/libfaketimeMT.so.1")) if folder else []
        return found[0] if found else None

    def fetch(self) -> None:
        """Before the enclosure, which has no way out."""
        _ = self.firewall, self.faketime


def _unpacked(package: str) -> Path | None:
    folder = ENGINES / package
    if not folder.exists():
        try:
            if not apt.available():
                return None
            apt.unpack([package], folder)
        except Failure:
            return None
    return folder


def _do(*command: str) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise Failure(f"{' '.join(command)} failed: {done.stderr.strip()}")
