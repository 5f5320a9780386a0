"""Locks on files: each process of a stack holds one as long as it lives, whatever ends it.

So who runs is told by the kernel, never by a file that a crash has left behind.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infra.dev.steps import Failure

WAIT_SECONDS = 30.0


def take(file: Path, name: str) -> int:
    """The file, locked: waits for one that is about to end, as after a crash of its parent."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    deadline = time.monotonic() + WAIT_SECONDS
    while not _try(descriptor):
        if time.monotonic() > deadline:
            os.close(descriptor)
            raise Failure(f"Another {name} still runs; it holds {file}. End that one first.")
        time.sleep(0.05)
    return descriptor


@contextmanager
def the_only_one(file: Path) -> Iterator[None]:
    """Holds the lock, with our process id in the file; a Failure if somebody else does."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not _try(descriptor):
            other = os.read(descriptor, 20).decode()
            raise Failure(
                f"A stack runs here already (process {other}).\n"
                "./dev status tells where it listens, ./dev down stops it."
            )
        os.ftruncate(descriptor, 0)
        os.write(descriptor, str(os.getpid()).encode())
        yield
    finally:
        os.close(descriptor)


def holder(file: Path) -> int | None:
    """The process that is the only one now, if there is one."""
    if not file.exists():
        return None
    with file.open() as stream:
        return None if _try(stream.fileno()) else int(stream.read() or 0)


def _try(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
