"""Runs a stack in the background: it is started, asked, hurt and stopped from outside.

`./dev up --detach` and the acceptance tests use it; all of the work is the supervisor's.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

from infra.dev.child import Child
from infra.dev.paths import ROOT
from infra.dev.place import Place
from infra.dev.ports import free_base
from infra.dev.private import private_folder
from infra.dev.steps import Failure

STOP_SECONDS = 120.0


class Stack:
    """A stack, with `folder` as its `var`. It ends with whoever started it, unless it `outlives`
    them."""

    def __init__(
        self, folder: Path, port_base: int | None = None, *, outlives: bool = False
    ) -> None:
        self.place = Place(folder)
        self.port_base = port_base or free_base()
        arguments = ["--folder", str(folder), "--port-base", str(self.port_base)]
        self._supervisor = Child(
            "the stack",
            [sys.executable, "-m", "infra.dev.supervisor", *arguments],
            log=private_folder(self.place.logs) / "stack.log",
            folder=ROOT,
            environment=os.environ,
            outlives=outlives,
        )

    def start(self, echo: Callable[[str], None] | None = None) -> None:
        """Start it and wait until all is ready; meanwhile the supervisor's words go to `echo`."""
        log = self._supervisor.log
        log.unlink(missing_ok=True)
        self._supervisor.start()
        try:
            with log.open(encoding="utf-8") as output:
                for text in self._until_ready(output):
                    if echo:
                        echo(text)
        except BaseException:
            self._supervisor.stop(STOP_SECONDS)
            raise

    def status(self) -> dict[str, Any]:
        status = self.place.status()
        if status is None:
            raise Failure("The stack does not run.")
        return status

    def kill(self, service: str) -> None:
        """Send SIGKILL to a service's first process; the supervisor starts it again."""
        os.kill(self.status()["pids"][service][0], signal.SIGKILL)

    def stop(self) -> None:
        stop(self.place)
        self._supervisor.stop(STOP_SECONDS)

    def _until_ready(self, output: TextIO) -> Iterator[str]:
        """Yield what the supervisor prints; raise Failure if it ends before it is ready."""
        while not self._is_ready():
            ended = self._supervisor.exit_code() is not None
            yield output.read()
            if ended:
                raise Failure(self._supervisor.last_words())
            time.sleep(0.05)
        yield output.read()

    def _is_ready(self) -> bool:
        return self.place.supervisor() == self._supervisor.pid and self.place.status_file.exists()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def stop(place: Place) -> None:
    """Stop the stack of this folder, if it runs; return when it has ended."""
    supervisor = place.supervisor()
    if supervisor is None:
        return
    os.kill(supervisor, signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    while place.supervisor() is not None:
        if time.monotonic() > deadline:
            raise Failure(f"The supervisor (process {supervisor}) does not end.")
        time.sleep(0.05)
