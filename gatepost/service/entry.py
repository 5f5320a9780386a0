"""The entry of each service: read the settings, bind the ports, run the supervisor.

A bad configuration or a taken port is told in plain words on standard error, with exit code 2.
"""

import argparse
import asyncio
import errno
import os
import resource
import socket
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from gatepost import __version__, metrics
from gatepost.config.settings import PORTS_APART, Listen, ServiceSettings, load, refuse_unsafe
from gatepost.errors import ConfigurationError
from gatepost.logs import start_logging
from gatepost.service import sockets
from gatepost.service.notify import Manager
from gatepost.service.rereading import Rereading
from gatepost.service.supervisor import Child, Supervisor

S = TypeVar("S", bound=ServiceSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Service(Generic[S]):
    """A service, and what of its settings concerns its supervisor.

    `files` are readings of all that the settings name: what can't be read is told before anything
    is started, where an operator sees it. `child` is the coroutine of one process. One that
    `drains` can be told that it is about to be stopped.
    """

    name: str
    settings: type[S]
    processes: Callable[[S], int]
    ports: Callable[[S], Sequence[Listen]]
    ops: Callable[[S], Listen]
    files: Callable[[S], Sequence[Callable[[], object]]]
    child: Callable[[S, Child], Any]
    drains: bool = False

    def read(self, file: Path | None, instance: int = 1) -> S:
        """Return the settings; raise ConfigurationError with all that is wrong, also with what they
        name."""
        settings = load(self.settings, file).of_instance(instance)
        try_all(self.files(settings))
        refuse_unsafe(settings)
        return settings

    def fixed(self, settings: S) -> object:
        """Return the settings that can't change while the service runs."""
        return [*self.ports(settings), self.ops(settings), self.processes(settings)]


def run(service: Service[S]) -> None:
    """Run the service until it is told to stop."""
    arguments = _arguments(service.name)
    _set_limits()
    manager = Manager.of(os.environ)
    read = partial(service.read, arguments.config, arguments.instance)
    try:
        settings = read()
        listeners = [bind(port) for port in service.ports(settings)]
        operators = bind(service.ops(settings))
    except ConfigurationError as error:
        sys.exit(_complaint(service.name, error))
    log, processes = start_logging(service.name, settings.log.level), service.processes(settings)
    rereading = Rereading(settings, read, service.fixed, log.level, service.child)
    with tempfile.TemporaryDirectory(prefix=f"gatepost-{service.name}-") as folder:
        metrics.collect_in(Path(folder))
        supervisor = Supervisor(
            log,
            processes,
            listeners,
            operators,
            Path(folder),
            rereading.main(settings),
            drains=service.drains,
        )
        for fault in settings.faults():
            log.warning("settings.unsafe", reason=fault)
        log.info("service.started", version=__version__, processes=processes)
        failed = asyncio.run(supervisor.run(manager, rereading))
        log.info("service.stopped")
    sys.exit(1 if failed else 0)


def _arguments(service: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=f"python -m {service}")
    parser.add_argument("--config", type=Path, help="the YAML file with the settings")
    parser.add_argument(
        "--instance", type=int, default=1, choices=range(1, 101), metavar="N",
        help=f"which of several on this machine: its ports are {PORTS_APART} × (N - 1) further up",
    )  # fmt: skip
    return parser.parse_args()


def _set_limits() -> None:
    """Forbid core dumps, which would hold what must not lie about; allow as many files as we may
    have."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    os.umask(0o077)


def try_all(readings: Sequence[Callable[[], object]]) -> None:
    """Try all readings; raise one ConfigurationError with everything that is wrong."""
    mistakes: list[str] = []
    for read in readings:
        try:
            read()
        except ConfigurationError as error:
            mistakes.append(error.detail)
    if mistakes:
        raise ConfigurationError("\n".join(mistakes))


def bind(listen: Listen) -> socket.socket:
    """Return a listening socket, made before the fork so that all children share it."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(
            listen.host, listen.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        sock = socket.socket(family, kind)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sockets.bound(sock)
        sock.bind(address)
        sock.listen(2048)
    except OSError as error:
        why = "it is taken" if error.errno == errno.EADDRINUSE else error.strerror
        place = f"{listen.host}:{listen.port}"
        raise ConfigurationError(f"port {place} can't be listened on: {why}") from None
    sock.setblocking(False)
    return sock


def _complaint(service: str, error: ConfigurationError) -> int:
    sys.stderr.write(f"{service}: {error}\n")
    return 2
