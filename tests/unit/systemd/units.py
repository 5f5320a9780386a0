"""Our units as they are in the checkout: what each says."""

from collections.abc import Iterator
from pathlib import Path

from infra.dev.paths import ROOT

SHIPPED = ROOT / "systemd"
DAEMONS = (
    "gatepost-main-server.service",
    "gatepost-portal.service",
    "gatepost-proxy@.service",
    "gatepost-redis.service",
    "gatepost-worker@.service",
)
OURS = {
    "main_server": "gatepost-main-server.service",
    "portal": "gatepost-portal.service",
    "proxy": "gatepost-proxy@.service",
    "worker": "gatepost-worker@.service",
}
"""Those that are our own programs, by their modules."""


def services() -> list[str]:
    return sorted(file.name for file in SHIPPED.glob("*.service"))


def timers() -> list[str]:
    return sorted(file.name for file in SHIPPED.glob("*.timer"))


def instance(unit: str, name: str = "1") -> str:
    """A template's name as that of one of its instances."""
    return unit.replace("@.", f"@{name}.")


def said(unit: str, key: str) -> list[str]:
    """Each value of a key, in the unit and in what is put beside it."""
    files = [SHIPPED / unit, *sorted((SHIPPED / f"{unit}.d").glob("*.conf"))]
    return [value for file in files for name, value in _lines(file) if name == key]


def programs() -> set[str]:
    """All that our units run."""
    keys = ("ExecStart", "ExecStartPre", "ExecReload")
    return {line.split()[0] for unit in services() for key in keys for line in said(unit, key)}


def _lines(file: Path) -> Iterator[tuple[str, str]]:
    for line in file.read_text().splitlines():
        name, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            yield name, value
