"""Where submissions come from: stdin, files, or the person at the terminal. No argument (I6)."""

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import BinaryIO

import typer

from gatepost.cli.failure import Failure
from gatepost.cli.submission import LARGEST, Submission, parse, text

STDIN = Path("-")


def one(file: Path | None, number_file: Path | None, body_file: Path | None) -> Submission:
    """The one submission that the options, or the lack of any, mean."""
    if number_file and body_file and not file:
        return from_files(number_file, body_file)
    if number_file or body_file:
        raise Failure("usage", "--number-file and --body-file go together, and without --file.")
    if file is None and sys.stdin.isatty():
        return from_terminal()
    return parse(_read(file or STDIN))


def from_terminal() -> Submission:
    """Ask for both; the questions go to stderr, as stdout is for results."""
    number = typer.prompt("Number, as +1234567890", err=True)
    return Submission(number.strip(), typer.prompt("Message", err=True))


def from_files(number_file: Path, body_file: Path) -> Submission:
    """The line's end that editors put at the end of a file is not part of what is meant."""
    if number_file == body_file == STDIN:
        raise Failure("usage", "Only one of --number-file and --body-file can be stdin.")
    number = text(_read(number_file)).strip()
    body = text(_read(body_file)).removesuffix("\n").removesuffix("\r")
    return Submission(number, body)


def lines(file: Path) -> Iterator[tuple[int, bytes]]:
    """Each line that isn't blank, with its number, as soon as it is there.

    Of a line that is too long comes as much as shows that it is.
    """
    with _open(file) as stream:
        number = 0
        while line := stream.readline(LARGEST + 1):
            number += 1
            rest = line
            while rest and not rest.endswith(b"\n"):
                rest = stream.readline(LARGEST)
            if line.strip():
                yield number, line


def _read(file: Path) -> bytes:
    with _open(file) as stream:
        return stream.read(LARGEST + 1)


def _open(file: Path) -> AbstractContextManager[BinaryIO]:
    if file == STDIN:
        return nullcontext(sys.stdin.buffer)
    try:
        return file.open("rb")
    except OSError as error:
        raise Failure("usage", f"{file} can't be read: {error.strerror}.") from None
