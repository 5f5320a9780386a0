"""Our units in a tree of their own, as they are installed."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from infra.dev.paths import ROOT
from infra.dev.systemd import Systemd, find_systemd
from tests.unit.systemd.units import DAEMONS, SHIPPED, programs

_BACK_OFF_SINCE = 254
GATEPOST = "/opt/gatepost/current/bin/gatepost"
_OF_SYSTEMD = ("basic", "multi-user", "network-online", "shutdown", "sysinit", "timers")


@dataclass(frozen=True)
class Installed:
    """A tree with our units, and systemd's tools to look at them with."""

    root: Path
    systemd: Systemd

    @property
    def units(self) -> Path:
        return self.root / "etc" / "systemd" / "system"

    def analyze(self, *arguments: str) -> str:
        return self.systemd.run("analyze", "--no-pager", f"--root={self.root}", *arguments)


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    root, systemd = tmp_path_factory.mktemp("root"), find_systemd()
    tree = Installed(root, systemd)
    shutil.copytree(SHIPPED, tree.units)
    if systemd.version >= _BACK_OFF_SINCE:
        for daemon in DAEMONS:
            folder = tree.units / f"{daemon}.d"
            folder.mkdir(exist_ok=True)
            shutil.copy(SHIPPED / "backoff.conf", folder / "30-backoff.conf")
    draining = tree.units / "gatepost-proxy@.service.d"
    draining.mkdir(exist_ok=True)
    shutil.copy(SHIPPED / "drain.conf", draining / "40-drain.conf")
    theirs = root / "usr" / "lib" / "systemd" / "system"
    theirs.mkdir(parents=True)
    for name in _OF_SYSTEMD:
        (theirs / f"{name}.target").write_text("[Unit]\nDescription=of systemd\n")
    for program in {"/bin/kill", GATEPOST, *programs()}:
        file = root / program.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("#!/bin/sh\n")
        file.chmod(0o755)
    for kind in ("sysusers", "tmpfiles"):
        folder = root / "usr" / "lib" / f"{kind}.d"
        folder.mkdir(parents=True)
        shutil.copy(ROOT / "systemd" / f"gatepost.{kind}", folder / "gatepost.conf")
    return tree
