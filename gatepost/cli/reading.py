"""Reads messages from stdin, files, or the person at the terminal, never from arguments (I6)."""

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import BinaryIO

import typer

from gatepost.cli.failure import Failure
from gatepost.cli.submission import LARGEST, parse, text
from gatepost.client.messages import Message

STDIN = Path("-")


def one(file: Path | None, number_file: Path | None, body_file: Path | None) -> Message:
    """Return the one submission that the options, or the lack of any, mean."""
    if number_file and body_file and not file:
        return from_files(number_file, body_file)
    if number_file or body_file:
        raise Failure("usage", "--number-file and --body-file go together, and without --file.")
    if file is None and sys.stdin.isatty():
        return from_terminal()
    return parse(_read(file or STDIN))


def from_terminal() -> Message:
    """Ask for number and body; the questions go to stderr, as stdout is for results."""
    number = typer.prompt("Number, as +1234567890", err=True)
    return Message(number.strip(), typer.prompt("Message", err=True))


def from_files(number_file: Path, body_file: Path) -> Message:
    """Return the message in the files, without the line's end that editors put after it."""
    if number_file == body_file == STDIN:
        raise Failure("usage", "Only one of --number-file and --body-file can be stdin.")
    number = text(_read(number_file)).strip()
    body = text(_read(body_file)).removesuffix("\n").removesuffix("\r")
    return Message(number, body)


def lines(file: Path) -> Iterator[tuple[int, bytes]]:
    """Yield each line that isn't blank, with its number, as soon as it is there.

    A line that is too long is cut, with enough left to show that it is.
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


def parts(file: Path, most: int) -> Iterator[list[tuple[int, bytes]]]:
    """Yield the same lines in parts, as many at a time as are there: a program that writes them one
    by one doesn't wait for a part to be full."""
    read: Queue[tuple[int, bytes] | BaseException | None] = Queue(2 * most)
    Thread(target=_read_along, args=(file, read), daemon=True).start()
    ended = False
    while not ended:
        taken = [read.get()]
        while len(taken) < most and not read.empty():
            taken.append(read.get())
        if part := [one for one in taken if isinstance(one, tuple)]:
            yield part
        if isinstance(taken[-1], BaseException):
            raise taken[-1]
        ended = taken[-1] is None


def _read_along(file: Path, read: "Queue[tuple[int, bytes] | BaseException | None]") -> None:
    try:
        for line in lines(file):
            read.put(line)
        read.put(None)
    except BaseException as error:
        read.put(error)


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
