"""Sending: hand each submission over, say so, and wait for its end if that was asked for."""

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
from gatepost.cli.submission import Submission, parse
from gatepost.cli.words import COLOURS, DURABILITY, duration
from gatepost.client import GatepostError, MessageStatus, Receipt, StillWaiting

# These say something of one line; whatever else fails would fail for the next line too.
_OF_ONE_LINE = {"refused", "invalid-input", "not-delivered", "still-waiting"}


@dataclass(frozen=True, slots=True)
class Given:
    """The options that say where one message is."""

    file: Path | None
    number_file: Path | None
    body_file: Path | None
    idempotency_key: str | None


def send_message(options: Options, given: Given, wait_for: float | None) -> None:
    with session(options) as opened:
        submission = reading.one(given.file, given.number_file, given.body_file)
        if given.idempotency_key:
            submission = replace(submission, idempotency_key=given.idempotency_key)
        _send(opened, Output(json=options.json), submission, wait_for)


def send_lines(options: Options, file: Path | None, wait_for: float | None) -> None:
    """Every line by itself, in order; what is wrong with one doesn't keep the others."""
    output = Output(json=options.json)
    failures: list[tuple[int, Failure]] = []
    count = 0
    with session(options) as opened:
        for number, content in reading.lines(file or reading.STDIN):
            count += 1
            failure = _send_line(opened, output, number, content, wait_for)
            if failure is None:
                continue
            _say_failure(output, number, failure)
            if failure.kind not in _OF_ONE_LINE:
                raise _stopped(number, failure)
            failures.append((number, failure))
    if failures:
        number, first = failures[0]
        words = f"{len(failures)} of {count} lines failed; the first was line {number}."
        raise Failure(first.kind, words, line=number)


def _send(
    opened: Session,
    output: Output,
    submission: Submission,
    wait_for: float | None,
    line: int | None = None,
) -> None:
    """Its result is said even if waiting fails: what was accepted is never without its id."""
    started = perf_counter()
    with output.busy("Sending"):
        try:
            receipt = opened.client.send(**asdict(submission))
        except ValueError as error:
            raise Failure("invalid-input", f"The input can't be sent: {error}.") from None
    result: dict[str, Any] = {} if line is None else {"line": line}
    result |= plain(receipt)
    if not output.json:
        output.say(*_accepted(receipt, perf_counter() - started, line))
    try:
        if wait_for is not None:
            _wait(opened, output, receipt, wait_for, result)
    finally:
        if output.json:
            output.result(result)


def _send_line(
    opened: Session, output: Output, number: int, content: bytes, wait_for: float | None
) -> Failure | None:
    try:
        _send(opened, output, parse(content), wait_for, number)
    except Failure as failure:
        return failure
    except GatepostError as error:
        return opened.failure(error)
    return None


def _stopped(number: int, failure: Failure) -> Failure:
    hint = " ".join(filter(None, [failure.hint, "The lines after it were not sent."]))
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
