"""Locks files: each process of a stack holds such a lock as long as it lives, whatever ends it.

So who runs is told by the kernel, never by a file that a crash has left behind.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infra.dev.steps import Failure

FORMER_SECONDS = 30.0  # for a process that is about to end, as after a crash of its parent
ASKING_SECONDS = 0.5  # for those who only ask who the holder is


def take(file: Path, name: str) -> int:
    """Return the file's descriptor, locked for as long as somebody has it open."""
    descriptor = _open(file)
    if not _lock(descriptor, FORMER_SECONDS):
        os.close(descriptor)
        raise Failure(f"Another {name} still runs; it holds {file}. End that one first.")
    return descriptor


@contextmanager
def the_only_one(file: Path) -> Iterator[None]:
    """Hold the lock, with our process id in the file; raise Failure if somebody else holds it."""
    descriptor = _open(file)
    try:
        if not _lock(descriptor, ASKING_SECONDS):
            raise Failure(
                f"A stack runs here already (process {holder(file)}).\n"
                "./dev status tells where it listens, ./dev down stops it."
            )
        os.ftruncate(descriptor, 0)
        os.write(descriptor, str(os.getpid()).encode())
        yield
    finally:
        os.close(descriptor)


def holder(file: Path) -> int | None:
    """Return the process that holds the lock now, if there is one."""
    if not file.exists():
        return None
    with file.open() as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return int(stream.read() or 0) or None
    return None


def _open(file: Path) -> int:
    return os.open(file, os.O_RDWR | os.O_CREAT, 0o600)


def _lock(descriptor: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        else:
            return True
