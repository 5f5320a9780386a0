"""Forks the children of a supervisor, and keeps what is known of each.

A child keeps of its parent its listeners and the pipe by which it tells how it is.
"""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import uvloop

from gatepost.logs import Log, failure
from gatepost.service.ops import Check, Checks

DRAIN, UNDRAIN = signal.SIGUSR2, signal.SIGRTMIN + 1
_OBEYED = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, DRAIN, UNDRAIN}


@dataclass(slots=True)
class Running:
    """The supervisor's record of one child."""

    pid: int
    pipe: int
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    started: float = field(default_factory=time.monotonic)
    heard: float = field(default_factory=time.monotonic)
    checks: Checks | None = None
    rest: bytes = b""

    def hear(self) -> None:
        data = os.read(self.pipe, 65536)
        if not data:
            self.ended.set()
            asyncio.get_running_loop().remove_reader(self.pipe)
            return
        self.heard = time.monotonic()
        *lines, self.rest = (self.rest + data).split(b"\n")
        if lines:
            self.checks = {name: Check(*one) for name, one in json.loads(lines[-1]).items()}

    def bury(self) -> str:
        """Bury a child that has ended; return how it ended."""
        asyncio.get_running_loop().remove_reader(self.pipe)
        os.close(self.pipe)
        _, status = os.waitpid(self.pid, 0)
        code = os.waitstatus_to_exitcode(status)
        return f"signal {-code}" if code < 0 else f"exit code {code}"


def fork(
    log: Log, listeners: list[int], main: Callable[[int, asyncio.Event], Coroutine[Any, Any, None]]
) -> Running:
    """Fork a child that runs `main` on a loop of its own, given its pipe and when to stop."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    sys.stdout.flush()
    # A signal that meets a child while it has our handlers would be lost on it.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _OBEYED)
    pid = os.fork()
    if pid == 0:
        keep = {0, 1, 2, writing, *listeners}
        _be_child(log, keep, before, lambda: _told_to_stop(main, writing))
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    os.close(writing)
    child = Running(pid, reading)
    asyncio.get_running_loop().add_reader(reading, child.hear)
    log.debug("process.started", child=pid)
    return child


async def _told_to_stop(
    main: Callable[[int, asyncio.Event], Coroutine[Any, Any, None]], pipe: int
) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await main(pipe, stop)


def _be_child(
    log: Log,
    keep: set[int],
    mask: set[int | signal.Signals],
    main: Callable[[], Coroutine[Any, Any, None]],
) -> NoReturn:
    code = 1
    try:
        asyncio._set_running_loop(None)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        # Ctrl-C and a reload may reach all; the parent decides.
        for number in _OBEYED - {signal.SIGTERM}:
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for descriptor in _open_descriptors():
            if descriptor not in keep:
                os.close(descriptor)
        uvloop.run(main())
        code = 0
    except BaseException as error:  # whatever it was: say it, and die
        for one in _causes(error):
            log.error("process.failed", **failure(one))
    finally:
        sys.stdout.flush()
        os._exit(code)


def _open_descriptors() -> list[int]:
    """Return the descriptors above standard error, but for the one that read the folder and is
    closed by now."""
    listed = [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]
    return [descriptor for descriptor in listed if descriptor > 2 and _is_open(descriptor)]


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the single errors of a group: a TaskGroup wraps what its loops raise."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _causes(inner)
    else:
        yield error
