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
from pathlib import Path
from typing import Any, TypeVar

from gatepost import __version__, metrics
from gatepost.errors import ConfigurationError
from gatepost.logs import start_logging
from gatepost.service.supervisor import Child, Supervisor
from gatepost.settings import Listen, ServiceSettings, load

S = TypeVar("S", bound=ServiceSettings)


def run(
    service: str,
    settings_class: type[S],
    *,
    processes: Callable[[S], int],
    ports: Callable[[S], Sequence[Listen]],
    ops: Callable[[S], Listen],
    files: Callable[[S], Sequence[Callable[[], object]]],
    child: Callable[[S, Child], Any],
) -> None:
    """Runs the service until it is told to stop; `child` is the coroutine of one process of it.

    `files` are readings of all that the settings name: what can't be read is told before anything
    is started, where an operator sees it.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {service}")
    parser.add_argument("--config", type=Path, help="the YAML file with the settings")
    arguments = parser.parse_args()
    _set_limits()
    try:
        settings = load(settings_class, arguments.config)
        try_all(files(settings))
        faults = settings.faults()
        if faults and settings.environment == "production":
            raise ConfigurationError("not in production:\n" + "\n".join(faults))
        listeners = [bind(port) for port in ports(settings)]
        operators = bind(ops(settings))
    except ConfigurationError as error:
        sys.exit(_complaint(service, error))
    log = start_logging(service, settings.log.level)
    with tempfile.TemporaryDirectory(prefix=f"gatepost-{service}-") as folder:
        metrics.collect_in(Path(folder))
        supervisor = Supervisor(
            log, processes(settings), listeners, operators, Path(folder),
            lambda handle: child(settings, handle),
        )  # fmt: skip
        for fault in faults:
            log.warning("settings.unsafe", reason=fault)
        log.info("service.started", version=__version__, processes=processes(settings))
        failed = asyncio.run(supervisor.run())
        log.info("service.stopped")
    sys.exit(1 if failed else 0)


def _set_limits() -> None:
    """No core dump: it would hold what must not lie about. As many files as we may have."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    os.umask(0o077)


def try_all(readings: Sequence[Callable[[], object]]) -> None:
    """Raises one ConfigurationError with everything that is wrong."""
    mistakes: list[str] = []
    for read in readings:
        try:
            read()
        except ConfigurationError as error:
            mistakes.append(error.detail)
    if mistakes:
        raise ConfigurationError("\n".join(mistakes))


def bind(listen: Listen) -> socket.socket:
    """A listening socket, made before the fork so that all children share it."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(
            listen.host, listen.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        sock = socket.socket(family, kind)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
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
