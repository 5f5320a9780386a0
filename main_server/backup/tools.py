"""The database's own programs for writing it out and reading it in, as child processes.

The credentials that they need are handed to them in memory: they are in no argument, no environment
and no file.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import IO

from sqlalchemy import URL

from gatepost.errors import ConfigurationError, Unavailable

_DUMPS, _LOADS = ("mariadb-dump", "mysqldump"), ("mariadb", "mysql")
_AS_OF_ONE_MOMENT = (
    "--single-transaction",  # nobody waits for us, and we see the ledger as it was when we began
    "--quick",
    "--hex-blob",
    "--no-tablespaces",
    "--skip-add-locks",
    "--default-character-set=utf8mb4",
    "--net-buffer-length=1M",
)
ENDS = b"-- Dump completed"
"""The beginning of the last line of a whole dump."""
OF_A_TABLE = b"DROP TABLE"
"""The beginning of a line that each table has. By the first such line the dump has its moment."""
_VERSIONED, _DEFINER = b"/*!50013 ", re.compile(rb"DEFINER=`[^`]*`@`[^`]*` ")
"""The marks of a view's definer, in a line of its own. No row can look so: its own line ends are
escaped."""


class ToolFailed(Unavailable):
    """The database's program has ended badly; what it said is told."""


def dump(address: URL) -> Generator[bytes]:
    """Yield all tables and views of the schema, as SQL, all of one moment. A view will belong to
    whoever reads it in: no other user is sure to be there."""
    with _options(address) as options, TemporaryFile() as said:
        command = [_find(_DUMPS), f"--defaults-extra-file=/dev/fd/{options}", *_AS_OF_ONE_MOMENT]
        with subprocess.Popen(
            [*command, address.database or ""],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=said,
            pass_fds=[options],
        ) as child:
            assert child.stdout is not None
            for line in child.stdout:  # who stops reading ends it
                yield _DEFINER.sub(b"", line) if line.startswith(_VERSIONED) else line
        _check(child, said)


def load(address: URL, sql: Iterable[bytes]) -> None:
    with _options(address) as options, TemporaryFile() as said:
        command = [_find(_LOADS), f"--defaults-extra-file=/dev/fd/{options}"]
        settings = ["--default-character-set=utf8mb4", "--max-allowed-packet=1G", "--binary-mode"]
        with subprocess.Popen(
            [*command, *settings, address.database or ""],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=said,
            pass_fds=[options],
        ) as child:
            assert child.stdin is not None
            try:
                for data in sql:
                    child.stdin.write(data)
                child.stdin.close()
            except BrokenPipeError:
                pass  # it has ended, and says why
            except BaseException:
                child.kill()
                raise
        _check(child, said)


@contextmanager
def _options(address: URL) -> Iterator[int]:
    """Yield the descriptor of an options file that lies nowhere."""
    said = {
        "host": address.host,
        "port": address.port,
        "user": address.username,
        "password": address.password,
    }
    lines = [f"{name}={_quoted(str(value))}" for name, value in said.items() if value is not None]
    file = os.memfd_create("options")
    try:
        os.fchmod(file, 0o600)
        os.write(file, "\n".join(["[client]", "protocol=tcp", *lines, ""]).encode())
        os.lseek(file, 0, os.SEEK_SET)
        yield file
    finally:
        os.close(file)


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _find(names: tuple[str, ...]) -> str:
    for name in names:
        if program := shutil.which(name):
            return program
    raise ConfigurationError(f"there is no {names[0]} on this machine: install mariadb-client")


def _check(child: subprocess.Popen[bytes], said: IO[bytes]) -> None:
    if child.returncode:
        said.seek(0)
        words = said.read(2000).decode(errors="replace").strip()
        raise ToolFailed(f"the database's program has failed: {words or child.returncode}")
