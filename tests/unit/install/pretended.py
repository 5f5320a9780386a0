"""A root folder in which nobody has to be root: files, links and systemd's own tools are real, what
wants root or takes minutes is pretended. The whole of it is `./dev drill operate install`.
"""

import hashlib
import os
import re
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from gatepost.install.machine import Machine
from gatepost.install.mariadb import SETTINGS, assignments
from infra.dev.systemd import find_systemd

_systemd = cache(find_systemd)
_PASSWORD = re.compile(r"ALTER USER (\S+) IDENTIFIED BY '(.*)';")
_GRANT = re.compile(r"GRANT (.+) ON (\S+) TO ([^\s;]+)( WITH GRANT OPTION)?;")


class Pretended(Machine):
    """`commands` are all that were called, in order; one that holds `broken` fails."""

    def __init__(self, root: Path, *, live: bool = False) -> None:
        super().__init__(root)
        self.live = live
        self.commands: list[str] = []
        self.broken: str | None = None
        self.tables: str | None = None
        self.active: dict[str, int] = {}
        self.in_backup: dict[str, bytes] = {}
        self.config_of_restore = ""
        self._statements = ""
        for folder in ("etc/systemd/system", "run", "usr/bin", "opt"):
            self.path(folder).mkdir(parents=True)

    def ids(self, kind: str) -> dict[str, int]:
        """Everybody is us."""
        ours = os.getuid() if kind == "passwd" else os.getgid()
        return dict.fromkeys([*super().ids(kind), "root"], ours)

    def call(
        self,
        *command: str | Path,
        text: str | None = None,
        user: str | None = None,  # noqa: ARG002
        extra: Mapping[str, str] | None = None,  # noqa: ARG002
    ) -> "subprocess.CompletedProcess[str]":
        words = " ".join(map(str, command))
        if not words.startswith(("systemctl is-", "systemctl show", "systemctl --version")):
            self.commands.append(words)
        if self.broken and self.broken in words:
            return subprocess.CompletedProcess(words, 1, "", "it is broken")
        code, said = self._answer([str(one) for one in command], text or "")
        return subprocess.CompletedProcess(words, code, said, "")

    def _answer(self, command: list[str], text: str) -> tuple[int, str]:
        program, *words = command
        name = Path(program).name
        if name == "systemd-sysusers":
            for file in self.path("/etc").glob("*shadow"):
                file.chmod(0o600)  # nobody may read what it has made, but root
            _systemd().run("sysusers", f"--root={self.root}", "gatepost.conf")
        elif name == "systemd-tmpfiles":
            self._make_folders()
        elif name == "systemctl":
            return self._systemctl(words)
        elif name == "mariadb":
            return 0, self._mariadb(text)
        elif words[:2] == ["-m", "venv"]:
            self.path(f"{words[2]}/bin").mkdir(exist_ok=True)
            self.path(f"{words[2]}/bin/gatepost").touch()
        elif name == "gatepost":
            return self._gatepost(program, words)
        return 0, ""

    def _gatepost(self, program: str, words: list[str]) -> tuple[int, str]:
        """Tables are of the release whose command has upgraded them; two releases share theirs if
        their first two numbers are the same."""
        release = Path(program).parts[-3].rpartition(".")[0]
        if words[:2] == ["db", "upgrade"]:
            self.tables = release
        if words[:2] == ["backup", "restore"] and "--files-to" in words:
            self._unpack(self.path(words[words.index("--files-to") + 1]))
            self.config_of_restore = self.path(words[words.index("--config") + 1]).read_text()
        elif words[:2] == ["backup", "restore"]:
            self.tables = release
        if words[:2] == ["db", "current"]:
            return int(self.tables != release), f"ledger {self.tables}, release {release}"
        if words[:2] == ["ca", "init"]:
            self.path("/var/lib/gatepost/main_server/ca/intermediate.pem").touch()
        if words[:2] == ["cert", "issue"]:
            out = self.path(words[words.index("--out") + 1])
            out.mkdir()
            for kind in ("key", "pem"):
                (out / f"{words[2].partition(':')[2]}.{kind}").write_text(f"a {kind}")
        return 0, ""

    def _unpack(self, folder: Path) -> None:
        for name, content in self.in_backup.items():
            file = folder / name.lstrip("/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
            file.chmod(0o640)

    def _systemctl(self, words: list[str]) -> tuple[int, str]:
        unit = words[-1]
        if words[0] == "--version":
            return 0, f"systemd {_systemd().version}"
        if words[0] in ("enable", "disable"):
            _systemd().control(self.root, *words)
        if words[0] in ("start", "restart"):
            self.active |= dict.fromkeys(words[1:], 2**62)
        if words[0] == "stop":
            for name in words[1:]:
                self.active.pop(name, None)
        if words[0] == "list-units":
            return 0, "\n".join(f"{name} loaded active" for name in self.active)
        if words[0] == "show":
            return 0, str(self.active.get(unit, 0))
        return int(words[0] == "is-active" and unit not in self.active), ""

    def _mariadb(self, text: str) -> str:
        """It has whatever was last put in, and says its grants as MariaDB does."""
        if "VARIABLES" in text:
            pairs = assignments(self.path(SETTINGS).read_text())
            return "\n".join(f"{name}\t{value}" for name, value in pairs)
        if "SHOW" not in text:
            self._statements += text
            return ""
        said = re.findall(r"CREATE SCHEMA IF NOT EXISTS (\S+)", self._statements)
        for who, password in _PASSWORD.findall(self._statements):
            inner = hashlib.sha1(password.encode(), usedforsecurity=False).digest()
            known = "*" + hashlib.sha1(inner, usedforsecurity=False).hexdigest().upper()
            said.append(f"GRANT USAGE ON *.* TO {_quoted(who)} IDENTIFIED BY PASSWORD '{known}'")
        for rights, what, who, option in _GRANT.findall(self._statements):
            whole = rights.replace("ALL", "ALL PRIVILEGES")
            said.append(f"GRANT {whole} ON {what} TO {_quoted(who)}{option}")
        return "\n".join(said)

    def _make_folders(self) -> None:
        for line in self.path("/usr/lib/tmpfiles.d/gatepost.conf").read_text().splitlines():
            if line.startswith("d "):
                _, name, mode, *_ = line.split()
                self.path(name).mkdir(parents=True, exist_ok=True)
                self.path(name).chmod(int(mode, 8))


def _quoted(who: str) -> str:
    user, host = who.split("@")
    return f"`{user}`@`{host}`"
