"""Sending: hand each submission over, say so, and wait for its end if that was asked for."""

from collections.abc import Iterator
from dataclasses import asdict
from time import perf_counter
from typing import Any

from gatepost.cli.failure import Failure
from gatepost.cli.following import ended, follow
from gatepost.cli.output import Output, Part, plain
from gatepost.cli.session import Session
from gatepost.cli.submission import Submission, parse
from gatepost.cli.words import COLOURS, DURABILITY, duration
from gatepost.client import GatepostError, MessageStatus, Receipt, StillWaiting

# These say something of one line; whatever else fails would fail for the next line too.
_OF_ONE_LINE = {"refused", "invalid-input", "not-delivered", "still-waiting"}


def send_one(
    session: Session,
    output: Output,
    submission: Submission,
    wait_for: float | None,
    line: int | None = None,
) -> None:
    """Its result is said even if waiting fails: what was accepted is never without its id."""
    started = perf_counter()
    with output.busy("Sending"):
        receipt = session.client.send(**asdict(submission))
    result: dict[str, Any] = {} if line is None else {"line": line}
    result |= plain(receipt)
    if not output.json:
        output.say(*_accepted(receipt, perf_counter() - started, line))
    try:
        if wait_for is not None:
            _wait(session, output, receipt, wait_for, result)
    finally:
        if output.json:
            output.result(result)


def send_lines(
    session: Session, output: Output, lines: Iterator[tuple[int, bytes]], wait_for: float | None
) -> None:
    """Every line by itself, in order; what is wrong with one doesn't keep the others."""
    failures: list[tuple[int, Failure]] = []
    count = 0
    for number, content in lines:
        count += 1
        failure = _send_line(session, output, number, content, wait_for)
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


def _send_line(
    session: Session, output: Output, number: int, content: bytes, wait_for: float | None
) -> Failure | None:
    try:
        send_one(session, output, parse(content), wait_for, number)
    except Failure as failure:
        return failure
    except GatepostError as error:
        return session.failure(error)
    return None


def _stopped(number: int, failure: Failure) -> Failure:
    hint = " ".join(filter(None, [failure.hint, "The lines after it were not sent."]))
    details = {**failure.details, "line": number}
    return Failure(failure.kind, f"Line {number}: {failure.message}", hint, **details)


def _wait(
    session: Session, output: Output, receipt: Receipt, wait_for: float, result: dict[str, Any]
) -> None:
    def tell(change: MessageStatus) -> None:
        result.update(plain(change))
        if change.final and not output.json:
            output.say(*ended(change))

    try:
        with output.busy("Waiting for its delivery"):
            follow(session.client.watch(receipt.message_id, wait_for), tell)
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
