"""Partitions and losses, made by iptables and tc in the network namespace of a node.

A target is a node (all of its traffic), or a wire such as `proxy-1>redis`: then only what that node
says to that one, and hears from it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
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
    _rules: list[str] = field(default_factory=list, init=False)
    """Those that are in the firewall."""

    def holds(self) -> set[str]:
        return {self.target.partition(">")[0]}

    def begin(self, site: Site) -> None:
        node, *_ = self.target.split(">")
        wire = site.wires.get(self.target)
        coming = f"-p tcp --sport {wire.port}" if wire else "-p tcp"
        going = f"-p tcp --dport {wire.port}" if wire else "-p tcp"
        for rule in WAYS[self.way]:
            whole = rule.format(coming=coming, going=going)
            site.firewall.add(site.node(node), whole)
            self._rules.append(whole)

    def end(self, site: Site) -> None:
        node, *_ = self.target.split(">")
        while self._rules:
            site.firewall.remove(site.node(node), self._rules[-1])
            self._rules.pop()


class Narrow(Fault):
    """All that a node says goes through a narrow pipe, which drops what waits for too long."""

    name: ClassVar[str] = "narrow"
    _is_there = False

    def begin(self, site: Site) -> None:
        _tc(site, self.target, "add", "tbf rate 512kbit burst 8kb latency 300ms")
        self._is_there = True

    def end(self, site: Site) -> None:
        if self._is_there:
            _tc(site, self.target, "del", "")
            self._is_there = False


def _tc(site: Site, name: str, what: str, how: str) -> None:
    command = [*site.node(name).prefix, "tc", "qdisc", what, "dev", "eth0", "root", *how.split()]
    run("tc", command)
