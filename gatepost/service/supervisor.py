"""The supervisor: forks a service's children, replaces the dead and the stuck, stops them all.

Each child tells over a pipe, once a second, that its loop turns and how its dependencies are. The
end of the pipe is the end of the child; and a child that can't write to it has lost its supervisor
and ends too. Nothing but this process knows how many children there are.
"""

import asyncio
import gc
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import uvloop

from gatepost import metrics
from gatepost.logs import Log, failure
from gatepost.loops import backoff, pause
from gatepost.service.ops import Check, Checks, operators_app
from gatepost.service.serving import serve

HEARTBEAT_SECONDS = 1.0
STUCK_AFTER_SECONDS = 15.0
STEADY_AFTER_SECONDS = 10.0
GRACE_SECONDS = 27.0


@dataclass(slots=True)
class Child:
    """What a child is given: when to stop, its listeners, and the pipe to its supervisor."""

    log: Log
    listeners: list[socket.socket]
    stop: asyncio.Event
    pipe: int

    async def heart_loop(self, checks: Callable[[], Checks]) -> None:
        """Tells the supervisor that this loop turns; without it, ends as if told to.

        Nobody is left then who would kill a child that doesn't end.
        """
        while not self.stop.is_set():
            try:
                os.write(self.pipe, json.dumps(checks()).encode() + b"\n")
            except BlockingIOError:
                pass  # a supervisor that stands still must not stop us
            except BrokenPipeError:
                self.log.error("supervisor.lost")
                self.stop.set()
                asyncio.get_running_loop().call_later(GRACE_SECONDS, os._exit, 1)
            await pause(self.stop, HEARTBEAT_SECONDS)


@dataclass(slots=True)
class _Running:
    """The supervisor's record of one child."""

    pid: int
    pipe: int
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    started: float = field(default_factory=time.monotonic)
    heard: float = field(default_factory=time.monotonic)
    checks: Checks | None = None
    rest: bytes = b""


class Supervisor:
    def __init__(
        self,
        log: Log,
        processes: int,
        listeners: list[socket.socket],
        operators: socket.socket,
        metrics_folder: Path,
        main: Callable[[Child], Coroutine[Any, Any, None]],
    ) -> None:
        self._log = log
        self._processes = processes
        self._listeners = listeners
        self._operators = operators
        self._metrics = metrics_folder
        self._main = main
        self._running: dict[int, _Running] = {}
        self._stop = asyncio.Event()
        self._failed = False

    async def run(self) -> bool:
        """Until told to stop; says whether a child had to be killed for it."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop.set)
        gc.freeze()  # what is loaded by now stays shared with the children
        app = operators_app(self.readiness, lambda: metrics.exposition(self._metrics))
        async with asyncio.TaskGroup() as group:
            keepers = [group.create_task(self._keep_one()) for _ in range(self._processes)]
            drained = asyncio.Event()
            group.create_task(serve(app, self._operators, None, drained))
            await self._stop.wait()
            await asyncio.wait(keepers)
            drained.set()
        return self._failed

    def readiness(self) -> tuple[bool, dict[str, Any]]:
        """Ready when every child is there, heard of, and content with each of its dependencies."""
        children = list(self._running.values())
        heard = [c.checks for c in children if c.checks is not None]
        complete = len(heard) == self._processes and not self._stop.is_set()
        checks = {"processes": Check(complete, f"{len(heard)} of {self._processes}")}
        for name in sorted({name for one in heard for name in one}):
            said = [one[name] for one in heard if name in one]
            checks[name] = min(said, key=lambda check: (check.ok, check.detail is None))
        shown = {name: check._asdict() for name, check in checks.items()}
        return all(check.ok for check in checks.values()), shown

    async def _keep_one(self) -> None:
        """Keeps one place filled; waits longer between starts that fail at once."""
        waits = backoff(0.1, 10.0)
        while not self._stop.is_set():
            child = self._fork()
            await self._watch(child)
            if self._stop.is_set():
                return
            if time.monotonic() - child.started > STEADY_AFTER_SECONDS:
                waits = backoff(0.1, 10.0)
            await pause(self._stop, next(waits))

    async def _watch(self, child: _Running) -> None:
        """Until the child has ended and been buried; a stuck one is killed."""
        stopping = asyncio.create_task(self._stop.wait())
        ended = asyncio.create_task(child.ended.wait())
        try:
            while not (child.ended.is_set() or self._stop.is_set()):
                await asyncio.wait({stopping, ended}, timeout=1, return_when="FIRST_COMPLETED")
                if time.monotonic() - child.heard > STUCK_AFTER_SECONDS:
                    self._log.error("process.stuck", child=child.pid)
                    os.kill(child.pid, signal.SIGKILL)
                    break
            if not child.ended.is_set() and self._stop.is_set():
                await self._end(child, ended)
            await ended
        finally:
            stopping.cancel()
        self._bury(child)

    async def _end(self, child: _Running, ended: "asyncio.Task[Any]") -> None:
        os.kill(child.pid, signal.SIGTERM)
        await asyncio.wait({ended}, timeout=GRACE_SECONDS)
        if not child.ended.is_set():
            self._failed = True
            self._log.error("process.killed", child=child.pid, after_seconds=GRACE_SECONDS)
            os.kill(child.pid, signal.SIGKILL)

    def _bury(self, child: _Running) -> None:
        asyncio.get_running_loop().remove_reader(child.pipe)
        os.close(child.pipe)
        _, status = os.waitpid(child.pid, 0)
        del self._running[child.pid]
        metrics.forget_process(self._metrics, child.pid)
        code = os.waitstatus_to_exitcode(status)
        if not self._stop.is_set():
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            self._log.warning("process.died", child=child.pid, how=how)

    def _hear(self, child: _Running) -> None:
        data = os.read(child.pipe, 65536)
        if not data:
            child.ended.set()
            asyncio.get_running_loop().remove_reader(child.pipe)
            return
        child.heard = time.monotonic()
        *lines, child.rest = (child.rest + data).split(b"\n")
        if lines:
            child.checks = {name: Check(*one) for name, one in json.loads(lines[-1]).items()}

    def _fork(self) -> _Running:
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            self._be_child(writing)
        os.close(writing)
        child = self._running[pid] = _Running(pid, reading)
        asyncio.get_running_loop().add_reader(reading, self._hear, child)
        self._log.debug("process.started", child=pid)
        return child

    def _be_child(self, pipe: int) -> NoReturn:
        """Runs the child's main on a loop of its own; of the parent it keeps the listeners."""
        code = 1
        try:
            asyncio._set_running_loop(None)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the parent decides
            keep = {0, 1, 2, pipe, *(sock.fileno() for sock in self._listeners)}
            for descriptor in _open_descriptors():
                if descriptor not in keep:
                    os.close(descriptor)
            uvloop.run(self._child_main(pipe))
            code = 0
        except BaseException as error:  # whatever it was: say it, and die
            for one in _causes(error):
                self._log.error("process.failed", **failure(one))
        finally:
            sys.stdout.flush()
            os._exit(code)

    async def _child_main(self, pipe: int) -> None:
        stop = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
        await self._main(Child(self._log, self._listeners, stop, pipe))


def _open_descriptors() -> list[int]:
    """Those above standard error, but for the one that read the folder and is closed by now."""
    listed = [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]
    return [descriptor for descriptor in listed if descriptor > 2 and _is_open(descriptor)]


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The single errors of a group: a TaskGroup wraps what its loops raise."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _causes(inner)
    else:
        yield error
