"""`gatepost anchor`: add, list, remove.

Declarations only: `gatepost --help` imports this module, so each command imports what it needs.
"""

from pathlib import Path
from typing import Annotated

import typer

from gatepost.cli.commands import needs
from main_server.commands.options import ConfigFile, DryRun, Json, Yes

needs("msgspec", "pymysql", "redis", "sqlalchemy")

anchor = typer.Typer(
    help="Partners' own CAs, each trusted for the clients of one domain.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@anchor.command("add")
def add(
    domain: Annotated[str, typer.Argument(metavar="DOMAIN", show_default=False)],
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="The CA's certificate, PEM.", show_default=False),
    ],
    config: ConfigFile = None,
    json: Json = False,
) -> None:
    """Trust a partner's CA for clients of one domain, or a newer certificate of its key.

    It lets nobody in by itself: register each certificate (gatepost cert register).
    """
    from main_server.commands import anchor as commands

    commands.add(config, domain, file, json=json)


@anchor.command("list")
def list_(config: ConfigFile = None, json: Json = False) -> None:
    """List them: one line each; as JSON, one document a line."""
    from main_server.commands import anchor as commands

    commands.list_all(config, json=json)


@anchor.command("remove")
def remove(
    anchor: Annotated[
        str,
        typer.Argument(metavar="ANCHOR", help="As `list` shows it.", show_default=False),
    ],
    config: ConfigFile = None,
    yes: Yes = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Trust one no longer, and revoke all that it has signed. This can't be undone."""
    from main_server.commands import anchor as commands

    commands.remove(config, anchor, yes=yes, dry_run=dry_run, json=json)
