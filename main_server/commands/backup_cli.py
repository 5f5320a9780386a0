"""`gatepost backup`: create, list, verify, restore, drill.

Declarations only: `gatepost --help` imports this module, so each command imports what it needs.
"""

from pathlib import Path
from typing import Annotated

import typer

from gatepost.cli.commands import needs
from gatepost.cli.configuration import config_option
from main_server.commands.options import Json

needs("alembic", "msgspec", "prometheus_client", "pymysql", "sqlalchemy")

backup = typer.Typer(
    help="Backups of the ledger, the CA and the configuration. Keys: `gatepost keys backup`.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

ConfigFile = Annotated[Path | None, config_option("The backups'", "backup")]
Name = Annotated[
    str | None, typer.Argument(metavar="[BACKUP]", help="As `list` names it; else the newest.")
]


@backup.command()
def create(config: ConfigFile = None, json: Json = False) -> None:
    """Make a backup while everything goes on, and drop those that are older than they should get.

    Waits for the nightly job. Killed anywhere, it leaves no backup that isn't whole.
    """
    from main_server.commands import backup as commands

    commands.make(config, json=json)


@backup.command("list")
def list_backups(config: ConfigFile = None, json: Json = False) -> None:
    """Show the backups that there are. Exit code 4 if there is none."""
    from main_server.commands import backup as commands

    commands.show_all(config, json=json)


@backup.command()
def verify(name: Name = None, config: ConfigFile = None, json: Json = False) -> None:
    """Read a backup from end to end: it opens, nothing is missing, nothing was altered."""
    from main_server.commands import backup as commands

    commands.look_through(config, name, json=json)


@backup.command()
def restore(
    name: Name = None,
    config: ConfigFile = None,
    files_to: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Put the CA and the configuration there: a new one."),
    ] = None,
    only_files: Annotated[
        bool, typer.Option("--only-files", help="Leave the ledger alone.")
    ] = False,
    json: Json = False,
) -> None:
    """Bring the ledger back, into a database that is empty. Start no server before the keys are."""
    from main_server.commands import backup as commands

    commands.bring_back(config, name, files_to, only_files=only_files, json=json)


@backup.command()
def drill(name: Name = None, config: ConfigFile = None, json: Json = False) -> None:
    """Try a restore in a schema that is made for it and dropped, and say how long it took."""
    from main_server.commands import backup as commands

    commands.rehearse(config, name, json=json)
