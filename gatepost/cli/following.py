"""Follows a message: tells how it is now, or each change until its end."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from gatepost.cli.failure import Failure
from gatepost.cli.options import Options
from gatepost.cli.output import Output, Part
from gatepost.cli.session import session
from gatepost.cli.words import COLOURS, ago, course, failed_for, moment
from gatepost.client import MessageStatus


def show(options: Options, message_id: str) -> None:
    output = Output(json=options.json)
    with session(options) as opened:
        message = opened.client.status(message_id)
    if output.json:
        output.result(message)
    else:
        _describe(output, message, datetime.now(UTC))


def watch(options: Options, message_id: str, timeout: float) -> None:
    output = Output(json=options.json)

    def tell(change: MessageStatus) -> None:
        if output.json:
            output.result(change)
        else:
            output.say(*in_a_line(change))

    with session(options) as opened, output.busy("Waiting for the next change"):
        follow(opened.client.watch(message_id, timeout), tell)


def follow(changes: Iterable[MessageStatus], tell: Callable[[MessageStatus], None]) -> None:
    """Tell each change; raise Failure if the message ends otherwise than delivered."""
    for change in changes:
        tell(change)
        if change.final and change.status != "delivered":
            why = f": {failed_for(change)}" if change.reason else ""
            words = f"The message ended as {change.status}{why}."
            details = {"message_id": change.message_id, "reason": change.reason}
            raise Failure("not-delivered", words, **details)


def in_a_line(message: MessageStatus) -> tuple[Part, ...]:
    return (
        (f"{message.status:<11}", _colour(message)),
        f"{message.message_id}  ",
        (course(message), "dim"),
    )


def _describe(output: Output, message: MessageStatus, now: datetime) -> None:
    output.say((f"{message.status:<11}", _colour(message)), message.message_id)
    output.say((f"{'':<11}{course(message)}", "dim"))
    if message.reason:
        output.say(f"{'':<11}{'reason':<11}{message.reason}", (f"  {failed_for(message)}", "dim"))
    times = {
        "created": message.created_at,
        "queued": message.queued_at,
        "delivered": message.delivered_at,
    }
    for name, time in times.items():
        if time is not None:
            output.say(f"{'':<11}{name:<11}", moment(time), (f"  {ago(time, now)}", "dim"))


def _colour(message: MessageStatus) -> str:
    return COLOURS.get(message.status, "")
