"""`gatepost message`: send, show, watch; on a machine of the gateway, why.

Declarations only, so that --help is quick: what a command needs (httpx, rich) is imported in it.
"""

from math import inf
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from gatepost.cli.commands import MessageCommands
from gatepost.cli.failure import Failure
from gatepost.cli.options import Options, with_options

message = typer.Typer(
    cls=MessageCommands,
    help="Send messages and follow them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_SEND_HELP = """Send a message, or one for each line.

Numbers and bodies are read, never given as arguments, because everyone on a machine can see the
arguments of a command.

\b
On stdin (or in --file), as JSON:
  {"sender_number": "+1234567890", "message_body": "Hello"}
  These may be added: "metadata": {"client_id": "...", "timestamp": "..."}, "idempotency_key",
  "priority", "ttl" or "expires_at", "due_at", "ordering_key".
From two files:
  gatepost message send --number-file number.txt --body-file body.txt
With --lines, one such JSON object on each line:
  they are sent in batches, at the rate that you are granted, and each is told for itself;
  one that is refused is passed over; without a gateway it stops and names the line.
At a terminal without any of these, it asks.

Every send has an idempotency key; it is part of the result, and of the error if the outcome isn't
known."""

_NEVER_ARGUMENTS = (
    "Numbers and bodies are never arguments: everyone on this machine could see them. Give them on "
    "stdin or in files."
)
_SEE_HELP = "See `gatepost message send --help`."

MessageId = Annotated[
    str, typer.Argument(metavar="MESSAGE_ID", help="As the receipt says it.", show_default=False)
]


@message.command(
    help=_SEND_HELP,
    short_help="Send a message, or one for each line.",
    # This keeps the words that refuse what is given by mistake from saying it again.
    context_settings={"allow_extra_args": True},
)
@with_options
def send(  # noqa: PLR0913 (one for each option)
    options: Options,
    context: typer.Context,
    file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The message as JSON; - is stdin.")
    ] = None,
    number_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The sender's number; - is stdin.")
    ] = None,
    body_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The body; - is stdin.")
    ] = None,
    lines: Annotated[bool, typer.Option("--lines", help="One JSON object on each line.")] = False,
    idempotency_key: Annotated[
        str | None, typer.Option(metavar="KEY", help="The key to send under, as when repeating.")
    ] = None,
    priority: Annotated[
        int | None, typer.Option(metavar="N", min=1, max=10, help="From 1 to 10, the most urgent.")
    ] = None,
    ttl: Annotated[
        int | None, typer.Option(metavar="SECONDS", min=1, help="How long it may be delivered.")
    ] = None,
    expires_at: Annotated[
        str | None, typer.Option(metavar="TIME", help="The same as a time, ISO 8601.")
    ] = None,
    due_at: Annotated[
        str | None, typer.Option(metavar="TIME", help="Not to be delivered before, ISO 8601.")
    ] = None,
    ordering_key: Annotated[
        str | None, typer.Option(metavar="KEY", help="Behind the earlier ones of this key.")
    ] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Wait until it is delivered.")] = False,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, help="How long to wait, with --wait.")
    ] = 60.0,
) -> None:
    if context.args:
        raise Failure("usage", _NEVER_ARGUMENTS, _SEE_HELP)
    beside = {
        "idempotency_key": idempotency_key,
        "priority": priority,
        "ttl": ttl,
        "expires_at": expires_at,
        "due_at": due_at,
        "ordering_key": ordering_key,
    }
    if lines and (number_file or body_file or any(beside.values())):
        raise Failure("usage", "With --lines, each line says all of its message.", _SEE_HELP)
    from gatepost.cli import sending

    wait_for = timeout if wait else None
    if lines:
        sending.send_lines(options, file, wait_for)
    else:
        given = sending.Given(file, number_file, body_file, beside)
        sending.send_message(options, given, wait_for)


@message.command()
@with_options
def show(options: Options, message_id: MessageId) -> None:
    """Show where a message is."""
    check_id(message_id)
    from gatepost.cli import following

    following.show(options, message_id)


@message.command()
@with_options
def watch(
    options: Options,
    message_id: MessageId,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, help="How long; without it, to the end.")
    ] = inf,
) -> None:
    """Follow a message to its end.

    One line for each change, until it is delivered or ends otherwise.
    """
    check_id(message_id)
    from gatepost.cli import following

    following.watch(options, message_id, timeout)


def check_id(message_id: str) -> None:
    """Refuse what is no message id, without repeating it: it may be a number in the wrong place."""
    try:
        UUID(message_id)
    except ValueError:
        words = "That is not a message id: it is a UUID, as the receipt of the message says it."
        raise Failure("usage", words) from None
