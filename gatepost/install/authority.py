"""The CA and the certificates of the services on this machine.

They are made by the release's own commands, as the main server's user with its credentials: so the
ledger knows them, and the CA's keys belong to nobody else. A certificate that is there is left
alone; services renew theirs by themselves.
"""

import secrets
import shutil
from dataclasses import dataclass

from gatepost.install.configuration import ETC
from gatepost.install.machine import Machine
from gatepost.install.placing import place
from gatepost.install.shipped import Release
from gatepost.install.steps import Step

USER, STATE = "gatepost-main_server", "/var/lib/gatepost"
CA = f"{STATE}/main_server/ca"
FOUNDED = f"{CA}/intermediate.pem"
CONFIG = ("--config", f"{ETC}/main_server/config.yaml")
LOCAL = ("localhost", "127.0.0.1", "::1")
SERVICES = ("main_server", "proxy", "worker", "portal")


@dataclass(frozen=True)
class Order:
    """A certificate to be issued: the service that it is for, its file's name, and what it says."""

    service: str
    file: str
    name: str
    role: str
    usage: str | None = None

    @property
    def is_called(self) -> bool:
        return self.role == "main" or self.usage == "server"


ORDERS = (
    Order("main_server", "main_server", "main-1", "main"),
    Order("proxy", "proxy", "proxy-1", "proxy", "server"),
    Order("proxy", "proxy-client", "proxy-1", "proxy", "client"),
    Order("worker", "worker", "worker-1", "worker"),
    Order("portal", "portal", "portal-1", "portal", "server"),
    Order("portal", "portal-client", "portal-1", "portal", "client"),
)


def steps(machine: Machine, release: Release, host: str) -> list[Step]:
    gatepost = f"{place(release)}/bin/gatepost"
    made = machine.path(FOUNDED)
    return [
        Step(
            f"a certificate authority in {CA}",
            made.exists,
            lambda: _as_main_server(machine, gatepost, "ca", "init", *CONFIG),
        ),
        *(_certificate(machine, gatepost, order, host) for order in ORDERS),
        *(_pins(machine, gatepost, service) for service in SERVICES),
    ]


def _certificate(machine: Machine, gatepost: str, order: Order, host: str) -> Step:
    folder = machine.path(f"{STATE}/{order.service}/tls")
    pair = [folder / f"{order.file}.{kind}" for kind in ("pem", "key")]
    return Step(
        f"{STATE}/{order.service}/tls/{order.file}.pem, a certificate of gatepost:{order.name}"
        + (f" for {host}" if order.is_called else ""),
        lambda: all(file.is_file() for file in pair),
        lambda: _issue(machine, gatepost, order, host),
    )


def _issue(machine: Machine, gatepost: str, order: Order, host: str) -> None:
    """Issue the certificate into a folder of the main server's, and copy it from there into the
    service's own."""
    out = f"{STATE}/main_server/issued-{secrets.token_hex(4)}"
    hosts = dict.fromkeys((host, *LOCAL)) if order.is_called else ()
    words = ["--role", order.role, *(f"--host={one}" for one in hosts), "--out", out]
    words += ["--usage", order.usage] if order.usage else []
    try:
        _as_main_server(
            machine, gatepost, "cert", "issue", f"gatepost:{order.name}", *words, *CONFIG
        )
        for kind, mode in (("key", 0o600), ("pem", 0o644)):
            content = machine.read_of(machine.path(f"{out}/{order.name}.{kind}"), USER)
            file = machine.path(f"{STATE}/{order.service}/tls/{order.file}.{kind}")
            machine.write(file, content, mode, f"gatepost-{order.service}")
    finally:
        shutil.rmtree(machine.path(out), ignore_errors=True)


def _pins(machine: Machine, gatepost: str, service: str) -> Step:
    """Return the step that writes whom a service trusts. Later the file is the operator's to
    change: see docs/certificates.md."""
    file = machine.path(f"{STATE}/{service}/tls/ca.pem")

    def put() -> None:
        pins = _as_main_server(machine, gatepost, "ca", "pins", *CONFIG)
        machine.write(file, pins.encode(), 0o644, f"gatepost-{service}")

    return Step(f"{STATE}/{service}/tls/ca.pem, whom it trusts", file.is_file, put)


def _as_main_server(machine: Machine, *command: str) -> str:
    with machine.credentials("main_server", USER) as folder:
        return machine.run(*command, user=USER, extra={"CREDENTIALS_DIRECTORY": folder})
