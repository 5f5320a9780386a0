"""`gatepost audit`: show, verify.

Declarations only: `gatepost --help` imports this module, so what they need is imported in them.
"""

from typing import Annotated

import typer

from gatepost.cli.commands import needs
from main_server.options import ConfigFile, Json

needs("msgspec", "pymysql", "sqlalchemy")

audit = typer.Typer(
    help="The audit log: who did what. Run these with the main server's settings.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@audit.command("show")
def show(
    config: ConfigFile = None,
    domain: Annotated[str | None, typer.Option(help="Of this domain only.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many.")] = 50,
    json: Json = False,
) -> None:
    """Show the latest entries, the latest first."""
    from main_server.audit import commands

    commands.show(config, domain, limit, json=json)


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
    from main_server.audit import commands

    commands.verify(config, head, json=json)
