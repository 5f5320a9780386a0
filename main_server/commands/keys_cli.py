"""`gatepost keys`: list, rotate, destroy, reencrypt, backup, restore.

Declarations only: `gatepost --help` imports this module, so each command imports what it needs. No
command ever shows a key.
"""

from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gatepost.cli.commands import needs
from main_server.commands.options import ConfigFile, Json

needs("msgspec", "pymysql", "sqlalchemy")

keys = typer.Typer(
    help="The keys of the main server. Run these where it runs, with its configuration.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


class Rotatable(StrEnum):
    MASTER = "master"
    SEALING = "sealing"
    NUMBER_MAC = "number-mac"
    ACCESS_TOKEN = "access-token"
    TOTP = "totp"


Client = Annotated[
    str, typer.Option("--client", metavar="DOMAIN:NAME", help="Whose messages.", show_default=False)
]
Day = Annotated[
    datetime,
    typer.Option(
        "--day", formats=["%Y-%m-%d"], help="The UTC day of the messages.", show_default=False
    ),
]
Backup = Annotated[Path, typer.Argument(metavar="FILE", show_default=False)]
Passphrase = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Its first line seals the backup, instead of the master key."
    ),
]


@keys.command("list")
def list_keys(
    config: ConfigFile = None,
    client: Annotated[
        str | None, typer.Option("--client", metavar="DOMAIN:NAME", help="Of one client only.")
    ] = None,
    day: Annotated[
        datetime | None, typer.Option("--day", formats=["%Y-%m-%d"], help="Of one day only.")
    ] = None,
    json: Json = False,
) -> None:
    """Show which keys there are, and how many messages each opens."""
    from main_server.commands import keys as commands

    commands.list_keys(config, client, day.date() if day else None, json=json)


@keys.command()
def rotate(
    what: Annotated[Rotatable, typer.Argument(show_default=False)],
    config: ConfigFile = None,
    prepare: Annotated[
        bool,
        typer.Option(
            "--prepare",
            help="master only: put the new key into the file and stop, so that the file can be "
            "copied to the other machines first.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Replace a key while servers run.

    \b
    master      wraps all other keys; what was interrupted goes on where it was
    sealing     what the edge seals to; replaced every day anyway
    number-mac  by which numbers are found; older messages are still found by the older keys
    access-token  signs what says who has signed in to the portal; the old one counts for an hour
    totp        seals the secrets of authenticators; older ones are still opened by the older keys
    """
    from main_server.commands import keys as commands

    commands.rotate(config, what.value, prepare=prepare, json=json)


@keys.command()
def destroy(
    client: Client,
    day: Day,
    config: ConfigFile = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do it. Without this, it only shows what would go.")
    ] = False,
    json: Json = False,
) -> None:
    """Destroy a client's day: its messages can never be read again, in no backup either.

    The rows stay as `erased`, without body and number. Interrupted, it goes on when run again.
    Refused while a legal hold is on the client, or on its domain.
    """
    from main_server.commands import keys as commands

    commands.destroy_day(config, client, day.date(), yes=yes, json=json)


@keys.command()
def reencrypt(client: Client, day: Day, config: ConfigFile = None, json: Json = False) -> None:
    """Give a client's day another data key, where one has become known.

    Messages keep arriving meanwhile. Interrupted, it goes on when run again.
    """
    from main_server.commands import keys as commands

    commands.reencrypt_day(config, client, day.date(), json=json)


@keys.command()
def backup(
    file: Backup,
    config: ConfigFile = None,
    passphrase_file: Passphrase = None,
    json: Json = False,
) -> None:
    """Write all keys into a sealed file, in the place of the one before.

    Keep one only, and set keys.backup_file to it: then what is destroyed goes from there as well.
    """
    from main_server.commands import keys as commands

    commands.back_up(config, file, passphrase_file, json=json)


@keys.command()
def restore(
    file: Backup,
    config: ConfigFile = None,
    passphrase_file: Passphrase = None,
    json: Json = False,
) -> None:
    """Bring back the keys of a backup that the ledger lacks, but for destroyed ones."""
    from main_server.commands import keys as commands

    commands.bring_back(config, file, passphrase_file, json=json)
