"""Shows steps as one line each, and runs the programs that they need.

A step that can't be done raises Failure, whose text is for the user: why, and what to do.
"""

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

WIDTH = 52
LAST_WORDS = 12  # lines of a failed program's output that are shown


class Failure(Exception):
    """A step can't be done."""


@contextmanager
def step(name: str) -> Iterator[None]:
    """Show the name when the step begins, and how long it took when it ends."""
    print(f"  {name} ".ljust(WIDTH, "."), end=" ", flush=True)
    begun = time.monotonic()
    try:
        yield
    except BaseException as error:
        print("failed" if isinstance(error, Exception) else "stopped", flush=True)
        raise
    print(f"{time.monotonic() - begun:5.1f} s", flush=True)


def run(
    what: str,
    command: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    lines: int | None = LAST_WORDS,
    **options: Any,
) -> str:
    """Return a program's output; raise Failure with its last `lines` (None: all) if it fails."""
    options |= {"env": environment, "cwd": folder, "capture_output": True, "text": True}
    try:
        done: subprocess.CompletedProcess[str] = subprocess.run(command, check=False, **options)
    except OSError as error:
        raise Failure(f"{what} failed: {error}") from None
    if done.returncode == 0:
        return done.stdout
    raise Failure(f"{what} failed:\n{last_words(done.stderr.strip() or done.stdout, lines)}")


def last_words(text: str, lines: int | None = LAST_WORDS) -> str:
    return "\n".join(text.strip().splitlines()[-(lines or 0) :])


def give_up(failure: Failure) -> NoReturn:
    """End the command with the failure's text."""
    print(f"\n{failure}", file=sys.stderr)
    sys.exit(1)
