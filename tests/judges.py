"""Programs of others that judge what we issue and publish: they are not ours, so they are not
wrong in the way that we are."""

import shutil
import subprocess
from pathlib import Path

SECONDS = 30


def openssl(*arguments: str | Path, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    return judge("openssl", *arguments, stdin=stdin)


def curl(*arguments: str | Path, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    """Its exit code says what it made of TLS; the answer is on stdout."""
    return judge("curl", "--silent", "--show-error", *arguments, stdin=stdin)


def judge(
    name: str, *arguments: str | Path, stdin: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Has a time to answer, and no terminal. One that is missing fails the test, and says so."""
    program = find(name)
    return subprocess.run(
        [program, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        input=stdin or "",
        check=False,
    )


def find(name: str) -> str:
    program = shutil.which(name)
    assert program, f"{name} is not on PATH, and these tests want its word: apt-get install {name}"
    return program
