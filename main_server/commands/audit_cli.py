"""`gatepost audit`: show, verify.

Declarations only: `gatepost --help` imports this module, so each command imports what it needs.
"""

from datetime import datetime
from typing import Annotated

import typer

from gatepost.cli.commands import needs
from main_server.commands.options import ConfigFile, Json

needs("msgspec", "pymysql", "sqlalchemy")

audit = typer.Typer(
    help="The audit log: who did what. Run these with the main server's settings.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_FORMATS = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]


@audit.command("show")
def show(  # noqa: PLR0913 (one for each option)
    config: ConfigFile = None,
    domain: Annotated[str | None, typer.Option(help="Of this domain only.")] = None,
    actor: Annotated[
        str | None, typer.Option(metavar="WHO", help="By this one: alice@example.com, shell:root.")
    ] = None,
    action: Annotated[
        str | None, typer.Option(metavar="WHAT", help="Of this kind, as message.opened.")
    ] = None,
    subject: Annotated[
        str | None, typer.Option(metavar="NAME", help="On this one: a message's id, a client …")
    ] = None,
    first: Annotated[
        datetime | None, typer.Option("--from", formats=_FORMATS, help="From then on, UTC.")
    ] = None,
    end: Annotated[
        datetime | None, typer.Option("--to", formats=_FORMATS, help="Before then, UTC.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many.")] = 50,
    json: Json = False,
) -> None:
    """Show the latest entries, the latest first."""
    from main_server.commands import audit as commands

    query = commands.query_of(domain, actor, action, subject, (first, end))
    commands.show(config, query, limit, json=json)


@audit.command("verify")
def verify(
    config: ConfigFile = None,
    head: Annotated[
        str | None,
        typer.Option(metavar="NUMBER:HASH", help="A head that was noted: it must still be there."),
    ] = None,
    json: Json = False,
) -> None:
    """Walk the whole chain, and say whether any entry was changed, taken out or put in.

    Note the head that it says, somewhere else: with --head, entries cut from the end show as well.
    """
    from main_server.commands import audit as commands

    commands.verify(config, head, json=json)
