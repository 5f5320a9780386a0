"""The folder of one stack (`var/`), what lies where in it, and what can be told from it.

Standard library only: `status`, `down` and `logs` work before anything is installed.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.dev.locking import holder

SERVICES = (
    "main_server",
    "worker",
    "proxy",
    "portal",
)  # in the order in which they depend on each other
ENGINES = ("redis", "mariadb")


@dataclass(frozen=True)
class Place:
    folder: Path

    @property
    def config(self) -> Path:
        return self.folder / "config"

    @property
    def pki(self) -> Path:
        return self.folder / "pki"

    @property
    def secrets(self) -> Path:
        return self.folder / "secrets"

    @property
    def run(self) -> Path:
        return self.folder / "run"

    @property
    def logs(self) -> Path:
        return self.folder / "log"

    @property
    def status_file(self) -> Path:
        """The file that is there while the stack is ready: what `./dev status --json` prints."""
        return self.folder / "status.json"

    @property
    def supervisor_lock(self) -> Path:
        """The lock that the supervisor holds as long as it lives; its process id is in it."""
        return self.run / "supervisor.lock"

    @property
    def admin_password(self) -> Path:
        """The file with the password of the portal's first administrator."""
        return self.secrets / "portal-admin.password"

    def log(self, name: str) -> Path:
        return self.logs / f"{name}.log"

    def supervisor(self) -> int | None:
        """Return the process that runs the stack, if it runs."""
        return holder(self.supervisor_lock)

    def status(self) -> dict[str, Any] | None:
        """Return what scripts need, with the processes of this moment; None unless it's ready."""
        if self.supervisor() is None:
            return None
        try:
            known: dict[str, Any] = json.loads(self.status_file.read_text())
        except FileNotFoundError:
            return None
        leaders = known["pids"]
        return known | {"pids": {name: session(pids[0]) for name, pids in leaders.items()}}


def session(leader: int) -> list[int]:
    """Return the processes of a child's session, the child itself first."""
    members = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            # The name, in brackets, may hold anything; what follows it doesn't.
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[3]) == leader and fields[0] != "Z":
            members.append(int(folder.name))
    return sorted(members, key=lambda pid: (pid != leader, pid))
