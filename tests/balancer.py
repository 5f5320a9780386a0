"""haproxy with infra/haproxy.cfg, in which nothing is changed but addresses and places."""

import csv
import os
import re
import socket
import subprocess
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from infra.dev.child import Child
from infra.dev.haproxy import Haproxy
from infra.dev.paths import ROOT
from infra.dev.place import Place
from infra.dev.ports import HOST, free_port
from tests.heard import wait_until

FRONT = {"proxies": ":8001", "main-servers": "10.0.0.5:8000", "pki": ":8002", "portals": ":8080"}


class Balancer:
    """`servers`: for each address of the file, our port; and that of its operators' port."""

    def __init__(self, haproxy: Haproxy, place: Place, servers: Mapping[str, tuple[int, int]]):
        self._haproxy = haproxy
        self.ports = {name: free_port() for name in FRONT}
        self.folder = place.folder / "haproxy"
        self.folder.mkdir(mode=0o700)
        pem = "".join((place.pki / f"portal.{end}").read_text() for end in ("pem", "key"))
        (self.folder / "portal.pem").write_text(pem)
        (self.folder / "portal.pem").chmod(0o600)
        self.file = self.folder / "haproxy.cfg"
        self.file.write_text(self._placed(servers, place))
        self.child = Child(
            "haproxy",
            [str(haproxy.program), "-W", "-f", str(self.file)],
            log=place.log("haproxy"),
            folder=self.folder,
            environment=dict(haproxy.environment),
        )

    def _placed(self, servers: Mapping[str, tuple[int, int]], place: Place) -> str:
        text = (ROOT / "infra" / "haproxy.cfg").read_text()
        changes = {
            f"bind {FRONT[name]}": f"bind {HOST}:{port}" for name, port in self.ports.items()
        }
        for address, (port, operators) in servers.items():
            changes[rf"{address} port [0-9]+"] = f"{HOST}:{port} port {operators}"
        changes |= {
            "/run/haproxy/admin.sock": "unix@admin.sock",
            "/etc/haproxy/portal.pem": str(self.folder / "portal.pem"),
            "/etc/haproxy/ca.pem": str(place.pki / "ca.pem"),
            "verifyhost portal.example.com": "verifyhost localhost",
        }
        for old, new in changes.items():
            text, number = re.subn(old, new, text)
            assert number, f"{old} is not in infra/haproxy.cfg"
        return text

    def check(self) -> str:
        """What haproxy has to say of the file."""
        command = [str(self._haproxy.program), "-c", "-f", str(self.file)]
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self._haproxy.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        return f"{done.returncode}: {done.stdout}{done.stderr}".strip()

    def states(self, name: str) -> dict[str, str]:
        """Of the servers of one section: UP, DOWN and so on."""
        with socket.socket(socket.AF_UNIX) as admin:
            admin.settimeout(5)
            # A path below a test's folder may be too long for a socket's address.
            folder = os.open(self.folder, os.O_RDONLY)
            try:
                admin.connect(f"/proc/self/fd/{folder}/admin.sock")
            finally:
                os.close(folder)
            admin.sendall(b"show stat\n")
            told = admin.makefile().read()
        rows = csv.DictReader(told.removeprefix("# ").splitlines())
        of_section = [row for row in rows if row["pxname"] == name]
        names = {row["svname"]: row["status"].split()[0] for row in of_section}
        return {one: s for one, s in names.items() if one not in ("FRONTEND", "BACKEND")}

    def wait(self, name: str, **states: str) -> None:
        wanted = {one.replace("_", "-"): state for one, state in states.items()}
        wait_until(lambda: wanted.items() <= self.states(name).items(), 20)

    def __enter__(self) -> Self:
        self.child.start()
        try:
            wait_until((self.folder / "admin.sock").exists, 10)
        except AssertionError:
            self.child.kill()
            raise AssertionError(self.child.last_words()) from None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.child.stop(10)
