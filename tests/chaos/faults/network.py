"""Partitions and losses, made by iptables and tc in the network namespace of a node.

A target is a node (all of its traffic), or a wire such as `proxy-1>redis`: then only what that node
says to that one, and hears from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from infra.dev.steps import run
from tests.chaos.faults.fault import Fault

if TYPE_CHECKING:
    from tests.chaos.site import Site

WAYS = {
    "both ways": ("INPUT {coming} -j DROP", "OUTPUT {going} -j DROP"),
    "nothing gets in": ("INPUT {coming} -j DROP",),
    "nothing gets out": ("OUTPUT {going} -j DROP",),
    "reset": (
        "INPUT {coming} -j REJECT --reject-with tcp-reset",
        "OUTPUT {going} -j REJECT --reject-with tcp-reset",
    ),
    "loss": ("INPUT {coming} -m statistic --mode random --probability 0.3 -j DROP",),
}


@dataclass
class Partition(Fault):
    name: ClassVar[str] = "partition"
    way: str = "both ways"

    def holds(self) -> set[str]:
        return {self.target.partition(">")[0]}

    def begin(self, site: Site) -> None:
        node, *_ = self.target.split(">")
        wire = site.wires.get(self.target)
        coming = f"-p tcp --sport {wire.port}" if wire else "-p tcp"
        going = f"-p tcp --dport {wire.port}" if wire else "-p tcp"
        self._node = site.node(node)
        self._rules = [rule.format(coming=coming, going=going) for rule in WAYS[self.way]]
        for rule in self._rules:
            site.firewall.add(self._node, rule)

    def end(self, site: Site) -> None:
        for rule in self._rules:
            site.firewall.remove(self._node, rule)


class Narrow(Fault):
    """All that a node says goes through a narrow pipe, which drops what waits for too long."""

    name: ClassVar[str] = "narrow"

    def begin(self, site: Site) -> None:
        _tc(site, self.target, "add", "tbf rate 512kbit burst 8kb latency 300ms")

    def end(self, site: Site) -> None:
        _tc(site, self.target, "del", "")


def _tc(site: Site, name: str, what: str, how: str) -> None:
    command = [*site.node(name).prefix, "tc", "qdisc", what, "dev", "eth0", "root", *how.split()]
    run("tc", command)
