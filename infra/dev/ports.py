"""Ports: those of a stack, free ones, and who has one that is taken."""

import random
import socket
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from infra.dev.steps import Failure

HOST = "127.0.0.1"
BASE = 8000
LOWEST_BASE, HIGHEST_BASE = 1024, 64000
_LISTENING = "0A"


@dataclass(frozen=True)
class Ports:
    """The ports of a stack, all counted from one base."""

    main_server: int
    proxy: int
    pki: int
    portal: int
    main_server_ops: int
    proxy_ops: int
    portal_ops: int
    worker_ops: int

    @classmethod
    def at(cls, base: int) -> "Ports":
        services = (base, base + 1, base + 2, base + 80)
        return cls(*services, base + 1000, base + 1001, base + 1002, base + 1100)

    def ops(self) -> dict[str, int]:
        """Return each service's port for operators."""
        return {
            "main_server": self.main_server_ops,
            "worker": self.worker_ops,
            "proxy": self.proxy_ops,
            "portal": self.portal_ops,
        }

    def taken(self) -> dict[str, int]:
        return {name: port for name, port in asdict(self).items() if not is_free(port)}

    def demand_free(self) -> None:
        if taken := self.taken():
            lines = [
                f"Port {port} ({name.replace('_', ' ')}) is taken by {holder(port)}."
                for name, port in taken.items()
            ]
            lines += ["Stop that, or use other ports:", f"  ./dev up --port-base {free_base()}"]
            raise Failure("\n".join(lines))


def free_base() -> int:
    """Return a base whose ports are all free now, below those that the kernel gives to clients."""
    while True:
        base = random.randrange(10_000, 31_000, 100)
        if not Ports.at(base).taken():
            return base


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def holder(port: int) -> str:
    """Return who listens on the port: "nginx (process 812)", as far as we may know it."""
    inodes = set(_listening_inodes(port))
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if str(link.readlink()) in inodes:
                process = link.parents[1]
                return f"{_name(process)} (process {process.name})"
        except OSError:  # another user's process, or one that has just ended
            continue
    return "a process of another user" if inodes else "another program"


def _listening_inodes(port: int) -> Iterator[str]:
    """Yield the sockets that listen on the port, as their descriptors are shown: socket:[1234]."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            rows = Path(table).read_text().splitlines()[1:]
        except OSError:
            continue
        for row in rows:
            _, local, _, state, *_, inode = row.split()[:10]
            if state == _LISTENING and int(local.rpartition(":")[2], 16) == port:
                yield f"socket:[{inode}]"


def _name(process: Path) -> str:
    """Return the command line of the process, shortened: arguments may be long."""
    words = process.joinpath("cmdline").read_bytes().decode(errors="replace").split("\0")
    text = " ".join(word for word in words if word) or process.joinpath("comm").read_text().strip()
    return text if len(text) <= 60 else text[:59] + "…"
