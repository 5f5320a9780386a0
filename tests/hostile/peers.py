"""A stack to be attacked: who is known to it, and what it says of itself meanwhile."""

import ssl
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

from prometheus_client.parser import text_string_to_metric_families

from gatepost.trust.identity import Identity, Role
from gatepost.trust.tls import client_context
from tests.acceptance.site import Site
from tests.factories import Pair
from tests.hostile.exchange import Peer

SERVICES = ("proxy", "main_server", "worker", "portal")
RATE = 1_000_000


@dataclass
class Attacked:
    """A running stack with a hostile and a good partner, and a certificate of each service's."""

    site: Site
    hostile: Pair
    good: Pair
    roles: dict[Role, Pair]

    def peer(self, service: str, pair: Pair) -> Peer:
        parts = urlsplit(self.site.url(service))
        return Peer(parts.hostname or "", parts.port or 0, client_context(pair.files))

    def browser(self) -> Peer:
        """Where people come to, without a certificate."""
        parts = urlsplit(self.site.url("portal"))
        context = ssl.create_default_context(cafile=self.site.status["ca"])
        return Peer(parts.hostname or "", parts.port or 0, context)

    def pki(self) -> Peer:
        parts = urlsplit(self.site.url("pki"))
        return Peer(parts.hostname or "", parts.port or 0)


def attack(site: Site) -> Attacked:
    """Make the partners and certificates known; the hostile one isn't held back by its rate."""
    clients = [
        site.issue(
            Identity("example.com", Role.CLIENT, f"{name}-{uuid4().hex[:8]}"), rate=RATE, burst=RATE
        )
        for name in ("hostile", "good")
    ]
    roles: dict[Role, Pair] = {
        role: site.issue(Identity("gatepost", role, f"{role}-{uuid4().hex[:8]}"))
        for role in Role
        if role is not Role.CLIENT
    }
    return Attacked(site, clients[0], clients[1], roles)


def processes(site: Site) -> dict[str, list[int]]:
    """Return the processes of each service: others in their place have replaced dead ones."""
    return {name: site.pids(name) for name in SERVICES}


def memory_kib(site: Site) -> dict[str, int]:
    """Return what each service's processes have of the machine's memory at the most so far."""
    return {name: sum(_peak(pid) for pid in pids) for name, pids in processes(site).items()}


def faults(site: Site) -> dict[str, int]:
    """Return how many requests each service has answered with 500, by what it counts itself."""
    return {name: sum(_faults_of(url)) for name, (url,) in site.status["metrics"].items()}


def _faults_of(url: str) -> Iterator[int]:
    with urllib.request.urlopen(url, timeout=10) as answer:
        text = answer.read().decode()
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            status = sample.labels.get("status", "")
            if (
                sample.name.endswith("_requests_total")
                and status.startswith("5")
                and status != "503"
            ):
                yield int(sample.value)


def _peak(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)
