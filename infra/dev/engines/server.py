"""The base of both servers: starts one and waits until it answers, stops it, kills it."""

import time
from pathlib import Path
from types import TracebackType
from typing import Self

from infra.dev.child import Child
from infra.dev.ports import HOST, free_port
from infra.dev.private import private_folder
from infra.dev.steps import Failure

START_SECONDS = 60.0  # a recovery takes its time
LOADING = "it is loading its data"
"""The answer of a server that is still loading: however much there is, the server is waited for."""
STOP_SECONDS = 30.0


class Server:
    """A server on a port of 127.0.0.1, with its data in `folder`. All of it is synchronous."""

    child: Child
    host = HOST

    def __init__(self, folder: Path, port: int | None) -> None:
        self.folder = private_folder(folder)
        self.port = port or free_port()

    @property
    def pid(self) -> int:
        return self.child.pid

    def start(self) -> None:
        self.launch()
        self.wait()

    def launch(self) -> None:
        """Start the server without waiting until it answers."""
        self.child.start()

    def wait(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while (silence := self.silence()) is not None:
            if self.child.exit_code() is not None:
                raise Failure(f"{self.child.name} has ended:\n{self.child.last_words()}")
            if silence == LOADING:
                deadline = time.monotonic() + START_SECONDS
            if time.monotonic() > deadline:
                raise Failure(f"{self.child.name} does not answer: {silence}")
            time.sleep(0.02)

    def silence(self) -> str | None:
        """Return why the server doesn't answer; None when it does."""
        raise NotImplementedError

    def stop(self) -> None:
        self.child.stop(STOP_SECONDS)

    def kill(self) -> None:
        """Kill the server as a crash would: SIGKILL."""
        self.child.kill()

    def restart(self) -> None:
        self.stop()
        self.start()

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
