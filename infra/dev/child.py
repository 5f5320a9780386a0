"""A child process: in a session of its own, ended when we end, stopped within a bounded time."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from infra.dev.locking import take
from infra.dev.steps import last_words

# By "parent" the kernel means the thread that forked: so one thread, which lives as long as we do,
# forks them all.
_FORKER = ThreadPoolExecutor(max_workers=1, thread_name_prefix="forker")
_ENDED_WITH_US = ["setpriv", "--pdeathsig", "TERM", "--"]


class Owner(NamedTuple):
    """Another user, to run a child as."""

    uid: int
    gid: int


@dataclass
class Child:
    """A program to run as a child, and the process that runs it. The process holds the file `lock`
    as long as it lives, and ends when we end unless it `outlives` us. `first` is done before it
    starts, when the lock says that no former one lives."""

    name: str
    command: Sequence[str]
    log: Path
    folder: Path
    environment: Mapping[str, str]
    owner: Owner | None = None
    lock: Path | None = None
    outlives: bool = False
    first: Callable[[], object] | None = None
    _process: "subprocess.Popen[bytes] | None" = field(default=None, init=False)

    def start(self) -> None:
        prefix = [] if self.outlives or not shutil.which("setpriv") else _ENDED_WITH_US
        held = [] if self.lock is None else [take(self.lock, self.name)]
        options = as_owner(self.owner) | {"pass_fds": held, "umask": 0o077}
        try:
            if self.first is not None:
                self.first()
            self._process = _FORKER.submit(self._popen, [*prefix, *self.command], options).result()
        finally:
            for descriptor in held:
                os.close(descriptor)

    def _popen(self, command: list[str], options: dict[str, Any]) -> "subprocess.Popen[bytes]":
        with self.log.open("ab") as log:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env=dict(self.environment),
                start_new_session=True,
                **options,
            )

    @property
    def pid(self) -> int:
        return self._running().pid

    def exit_code(self) -> int | None:
        """Return the exit code; None while the child runs."""
        return self._running().poll()

    def stop(self, seconds: float) -> None:
        """Ask the child to end; kill it after `seconds`, and whatever it leaves behind."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)
        self.kill()

    def kill(self) -> None:
        """Kill the child and its whole session, at once."""
        if self._process is None:
            return
        with suppress(ProcessLookupError, PermissionError):  # it's gone; others may have its number
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def last_words(self) -> str:
        """Return the end of the child's log."""
        return last_words(self.log.read_bytes()[-8000:].decode(errors="replace"))

    def _running(self) -> "subprocess.Popen[bytes]":
        if self._process is None:
            raise RuntimeError(f"{self.name} was not started")
        return self._process


def as_owner(owner: Owner | None) -> dict[str, Any]:
    """Return the options with which `subprocess` runs a program as somebody else."""
    return {} if owner is None else {"user": owner.uid, "group": owner.gid, "extra_groups": ()}
