"""Progress: one line a step, its name when it begins and its duration when it ends."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import CompletedProcess
from typing import NoReturn

WIDTH = 52


class Failure(Exception):
    """A step can't be done; the text tells the user why, and what to do."""


@contextmanager
def step(name: str) -> Iterator[None]:
    """Shows that `name` is being done, then how long it took."""
    print(f"  {name} ".ljust(WIDTH, "."), end=" ", flush=True)
    begun = time.monotonic()
    try:
        yield
    except BaseException:
        print("failed", flush=True)
        raise
    print(f"{time.monotonic() - begun:5.1f} s", flush=True)


def demand(done: CompletedProcess[str], what: str) -> str:
    """The output of a program that has ended well; else a Failure that quotes its last words."""
    if done.returncode == 0:
        return done.stdout
    last = "\n".join((done.stderr or done.stdout).strip().splitlines()[-12:])
    raise Failure(f"{what} failed:\n{last}")


def give_up(failure: Failure) -> NoReturn:
    """Ends the command with the failure's text."""
    print(f"\n{failure}", file=sys.stderr)
    sys.exit(1)
