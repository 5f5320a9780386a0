"""The commands that the main server adds to `gatepost`: `gatepost db upgrade|current|grant`.

Declarations only: `gatepost --help` imports this module, so each command imports what it needs.
"""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gatepost.cli.commands import needs
from gatepost.cli.configuration import config_option

needs("alembic", "pymysql", "sqlalchemy")

db = typer.Typer(help="The ledger's schema.", no_args_is_help=True)

ConfigFile = Annotated[
    Path | None, config_option("The migrations', or a main server's", "migration", "main_server")
]


class Part(StrEnum):
    READER = "reader"
    PUBLISHER = "publisher"
    BACKUP = "backup"
    RETENTION = "retention"
    SHOWING = "showing"


@db.command()
def upgrade(config: ConfigFile = None) -> None:
    """Bring the ledger's tables to this release. Needs a user that may create tables."""
    from main_server.commands import db as ledger_commands

    ledger_commands.upgrade(config)


@db.command()
def current(config: ConfigFile = None) -> None:
    """Show the schema's version and the one of this release; exit code 1 if they differ."""
    from main_server.commands import db as ledger_commands

    ledger_commands.current(config)


@db.command()
def grant(
    part: Annotated[Part, typer.Argument(help="What the user is for.")],
    account: Annotated[str, typer.Argument(metavar="USER@HOST", help="A user that is there.")],
    config: ConfigFile = None,
) -> None:
    """Give a user of the nightly work, of backups or of a replica the rights that its part needs.

    `reader` reads messages into the lake, `publisher` writes the manifest and the reports, `backup`
    reads the ledger as a whole, `retention` takes away what is past its day (and needs PROCESS,
    which only the server's own administrator gives), `showing` reads from a replica what people are
    shown. Needs a user that may grant; run it again after each upgrade.
    """
    from main_server.commands import db as ledger_commands

    ledger_commands.grant(part, account, config)
