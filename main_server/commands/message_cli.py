"""`gatepost message why`, on a machine of the gateway. Declarations only: --help imports this."""

from typing import Annotated

import typer

from gatepost.cli.commands import needs
from gatepost.cli.message import MessageId, check_id
from main_server.commands.options import ConfigFile, Json

needs("msgspec", "pymysql", "redis", "sqlalchemy")

message = typer.Typer(rich_markup_mode=None)

QueueNames = Annotated[
    list[str] | None,
    typer.Option(
        "--queue", metavar="NAME", help="A domain's queue to look into while the ledger is down."
    ),
]


@message.callback()
def root() -> None:
    pass


@message.command("why")
def why(
    message_id: MessageId,
    config: ConfigFile = None,
    queue: QueueNames = None,
    json: Json = False,
) -> None:
    """Say where a message is and why it is late. Needs the main server's settings.

    What happened to it and what comes next, from ledger and queue; never what it says. It works
    with the main server down, and of what waits in the queue with the ledger down, too.
    """
    check_id(message_id)
    from main_server.commands import message as commands

    commands.why(config, message_id, queue or [], json=json)
