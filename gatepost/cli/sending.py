"""Sends submissions: hands each over, says so, and waits for its end if that was asked for."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from gatepost.cli import reading
from gatepost.cli.failure import Failure
from gatepost.cli.following import follow, in_a_line
from gatepost.cli.options import Options
from gatepost.cli.output import Output, Part, plain
from gatepost.cli.session import Session, session
from gatepost.cli.submission import parse
from gatepost.cli.words import COLOURS, DURABILITY, duration
from gatepost.client import GatepostError, Message, MessageStatus, Receipt, Sent, StillWaiting
from gatepost.client.batches import MOST
from gatepost.client.calls import check_key

# Failures of one line alone; whatever else fails would fail for the next line too.
_OF_ONE_LINE = {"refused", "invalid-input", "not-delivered", "still-waiting"}


@dataclass(frozen=True, slots=True)
class Given:
    """The options that say where one message is, and what they add to it."""

    file: Path | None
    number_file: Path | None
    body_file: Path | None
    beside: Mapping[str, Any]
    """The fields that the options add to the message."""


def send_message(options: Options, given: Given, wait_for: float | None) -> None:
    with session(options) as opened:
        message = reading.one(given.file, given.number_file, given.body_file)
        said = {name: value for name, value in given.beside.items() if value is not None}
        _send(opened, Output(json=options.json), replace(message, **said), wait_for)


def send_lines(options: Options, file: Path | None, wait_for: float | None) -> None:
    """Send each line by itself, in batches; what is wrong with one doesn't keep the others."""
    output = Output(json=options.json)
    failures: list[tuple[int, Failure]] = []
    count = 0
    with session(options) as opened:
        for part in reading.parts(file or reading.STDIN, MOST):
            count += len(part)
            for number, failure in _send_part(opened, output, part, wait_for):
                failures.append((number, failure))
            for number, failure in failures:
                if failure.kind not in _OF_ONE_LINE:
                    raise _stopped(number, failure, part[-1][0])
    if failures:
        number, first = failures[0]
        words = f"{len(failures)} of {count} lines failed; the first was line {number}."
        raise Failure(first.kind, words, line=number)


def _send(opened: Session, output: Output, message: Message, wait_for: float | None) -> None:
    """Send a message and tell the result, even if waiting fails: what was accepted is never without
    its id."""
    started = perf_counter()
    with output.busy("Sending"):
        try:
            receipt = opened.client.send(**asdict(message))
        except ValueError as error:
            raise Failure("invalid-input", f"The input can't be sent: {error}.") from None
    _tell(opened, output, receipt, perf_counter() - started, wait_for)


def _send_part(
    opened: Session, output: Output, part: list[tuple[int, bytes]], wait_for: float | None
) -> Iterator[tuple[int, Failure]]:
    """Yield the lines that failed, each once it is told."""
    read = [(number, _read(content)) for number, content in part]
    started = perf_counter()
    with output.busy("Sending"):
        sent = iter(opened.client.send_many(one for _, one in read if isinstance(one, Message)))
    took = perf_counter() - started
    for number, one in read:
        failure = one if isinstance(one, Failure) else None
        if failure is None:
            failure = _tell_line(opened, output, next(sent), number, took, wait_for)
        if failure is not None:
            _say_failure(output, number, failure)
            yield number, failure


def _read(content: bytes) -> Message | Failure:
    try:
        message = parse(content)
        if message.idempotency_key is not None:
            check_key(message.idempotency_key)
    except ValueError as error:
        return Failure("invalid-input", f"The input can't be sent: {error}.")
    except Failure as failure:
        return failure
    return message


def _tell_line(
    opened: Session, output: Output, sent: Sent, number: int, took: float, wait_for: float | None
) -> Failure | None:
    try:
        if sent.receipt is None:
            assert sent.error is not None
            raise sent.error
        _tell(opened, output, sent.receipt, took, wait_for, number)
    except Failure as failure:
        return failure
    except GatepostError as error:
        return opened.failure(error)
    return None


def _tell(
    opened: Session,
    output: Output,
    receipt: Receipt,
    took: float,
    wait_for: float | None,
    line: int | None = None,
) -> None:
    result: dict[str, Any] = {} if line is None else {"line": line}
    result |= plain(receipt)
    if not output.json:
        output.say(*_accepted(receipt, took, line))
    try:
        if wait_for is not None:
            _wait(opened, output, receipt, wait_for, result)
    finally:
        if output.json:
            output.result(result)


def _stopped(number: int, failure: Failure, last: int) -> Failure:
    words = "The lines after it" if number == last else f"The lines after line {last}"
    hint = " ".join(filter(None, [failure.hint, f"{words} were not sent."]))
    details = {**failure.details, "line": number}
    return Failure(failure.kind, f"Line {number}: {failure.message}", hint, **details)


def _wait(
    opened: Session, output: Output, receipt: Receipt, wait_for: float, result: dict[str, Any]
) -> None:
    def tell(change: MessageStatus) -> None:
        result.update(plain(change))
        if change.final and not output.json:
            output.say(*in_a_line(change))

    try:
        with output.busy("Waiting for its delivery"):
            follow(opened.client.watch(receipt.message_id, wait_for), tell)
    except StillWaiting as error:
        result.update(plain(error.latest))
        raise


def _accepted(receipt: Receipt, seconds: float, line: int | None) -> tuple[Part, ...]:
    where = "" if line is None else f"{line:>6}  "
    durability = DURABILITY.get(receipt.durability, receipt.durability)
    return (
        (where, "dim"),
        (f"{receipt.status:<11}", COLOURS.get(receipt.status, "")),
        f"{receipt.message_id}  ",
        (f"in {duration(seconds)}, {durability}", "dim"),
    )


def _say_failure(output: Output, number: int, failure: Failure) -> None:
    if output.json:
        output.result({"line": number, "error": failure.document()})
    else:
        output.say((f"{number:>6}  ", "dim"), ("failed     ", "red"), failure.message)
