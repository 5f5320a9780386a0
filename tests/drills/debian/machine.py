"""A Debian that runs: systemd and all, in namespaces of its own, with a loopback and no other net.

What happens in it changes a folder of its own; the root folder that it is made of stays as it is.
It ends, with all its processes, when its first one does.
"""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from infra.dev.steps import Failure, last_words

HOST = "gateway.test"
BOOTED_WITHIN, STOPPED_WITHIN, LONGEST = 60.0, 60.0, 600.0
CGROUPS = Path("/sys/fs/cgroup")
_BOOT = Path(__file__).with_name("boot.sh")
_NAMESPACES = ("mount", "pid", "uts", "ipc", "net", "cgroup")


class Machine:
    """`folder` is where its changes go."""

    def __init__(self, root: Path, folder: Path) -> None:
        self._root = root
        self._folder = folder
        self._groups = [_group(one) for one in _hierarchies()]
        self._process: subprocess.Popen[bytes] | None = None
        self._first = 0

    def file(self, inside: str) -> Path:
        """Where one is that is put there before it boots."""
        place = self._folder / "upper" / inside.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        return place

    def call(
        self, *command: str, text: str | None = None, environment: Mapping[str, str] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        """A command of root's on it."""
        enter = ["nsenter", f"--target={self._first}", "--root", "--wd"]
        enter += [f"--{one}" for one in _NAMESPACES]
        path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        clean = {"PATH": path, "HOME": "/root", "LC_ALL": "C.UTF-8", **(environment or {})}
        words = ["env", "-i", *(f"{name}={value}" for name, value in clean.items())]
        return subprocess.run(
            [*enter, *words, *command],
            input=text or "",
            capture_output=True,
            text=True,
            timeout=LONGEST,
            check=False,
        )

    def run(self, *command: str, text: str | None = None) -> str:
        done = self.call(*command, text=text)
        if done.returncode != 0:
            said = last_words(done.stdout + done.stderr)
            raise Failure(f"{' '.join(command)} ended with {done.returncode}:\n{said}")
        return done.stdout

    def __enter__(self) -> Self:
        log = (self._folder / "boot.log").open("wb")
        groups = " ".join(f"{group}/cgroup.procs" for group in self._groups)
        namespaces = " ".join(f"--{one}" for one in _NAMESPACES)
        enter = f"for one in {groups}; do echo $$ > $one; done; shift 0; exec unshare {namespaces}"
        enter += ' --fork --kill-child bash "$@"'
        self._process = subprocess.Popen(
            ["bash", "-c", enter, "bash", str(_BOOT), str(self._root), str(self._folder)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        log.close()
        try:
            self._wait()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def _wait(self) -> None:
        """Until its systemd has started all that it starts."""
        deadline = time.monotonic() + BOOTED_WITHIN
        while not self._is_up():
            if self._process is None or self._process.poll() is not None:
                raise Failure(f"It doesn't boot:\n{(self._folder / 'boot.log').read_text()}")
            if time.monotonic() > deadline:
                raise Failure(f"It doesn't get up within {BOOTED_WITHIN:.0f} s.")
            time.sleep(0.2)
        self.run("hostname", HOST)

    def _is_up(self) -> bool:
        if not self._first:
            self._first = _systemd_below(self._process.pid if self._process else 0)
            return False
        state = self.call("systemctl", "is-system-running").stdout.strip()
        return state in ("running", "degraded")

    def _end(self) -> None:
        """All of its processes end with the first one of its namespace."""
        if self._process is None:
            return
        if self._first and self._process.poll() is None:
            os.kill(self._first, signal.SIGKILL)
        elif self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(STOPPED_WITHIN)
        for group in self._groups:
            _forget(group)
        shutil.rmtree(self._folder / "work", ignore_errors=True)


def _systemd_below(pid: int) -> int:
    """The child that has become systemd; 0 as long as there is none."""
    try:
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            if Path(f"/proc/{child}/comm").read_text().strip() == "systemd":
                return int(child)
    except FileNotFoundError:
        pass
    return 0


def _hierarchies() -> list[Path]:
    """Where systemd may make groups: cgroup v2 alone, or beside v1."""
    if (CGROUPS / "cgroup.controllers").exists():
        return [CGROUPS]
    return [place for name in ("unified", "systemd") if (place := CGROUPS / name).is_dir()]


def _group(hierarchy: Path) -> Path:
    group = hierarchy / f"gatepost-drill-{os.getpid()}"
    group.mkdir(exist_ok=True)
    return group


def _forget(group: Path) -> None:
    """From below: what is in it has ended, or is about to."""
    deadline = time.monotonic() + STOPPED_WITHIN
    for folder in [*sorted(group.rglob("*/"), reverse=True), group]:
        while folder.is_dir():
            try:
                folder.rmdir()
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
