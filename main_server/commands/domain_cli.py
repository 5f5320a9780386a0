"""`gatepost domain`: add, list, change, disable, enable.

Declarations only: `gatepost --help` imports this module, so each command imports what it needs.
"""

from pathlib import Path
from typing import Annotated

import typer

from gatepost.cli.commands import needs
from main_server.commands.options import ConfigFile, Json

needs("msgspec", "pymysql", "sqlalchemy")

domain = typer.Typer(
    help="Domains, the tenants of the gateway. Run these with the main server's settings.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Name = Annotated[str, typer.Argument(metavar="DOMAIN", show_default=False)]
Prefix = Annotated[
    str | None,
    typer.Option(metavar="PREFIX", help="Of a queue of its own, PREFIX:messages; '' is none."),
]
Undelivered = Annotated[
    int | None, typer.Option(metavar="COUNT", help="So many may wait; above it senders wait.")
]
Days = Annotated[
    int | None, typer.Option(metavar="DAYS", help="How long messages are kept; 0 is as usual.")
]
Zone = Annotated[
    str | None,
    typer.Option(
        metavar="PLACE", help="Of its people who have chosen none, as Europe/Berlin; '' is UTC."
    ),
]


@domain.command()
def add(
    name: Name,
    queue_prefix: Prefix = None,
    max_undelivered: Undelivered = None,
    retention_days: Days = None,
    time_zone: Zone = None,
    config: ConfigFile = None,
    json: Json = False,
) -> None:
    """Add a domain. Without a prefix its messages wait in the queue that domains share."""
    from main_server.commands import domain as commands

    given = commands.Given(queue_prefix, max_undelivered, retention_days, time_zone)
    commands.add(config, name, given, json=json)


@domain.command()
def seed(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="As domains.yaml is.")],
    config: ConfigFile = None,
    json: Json = False,
) -> None:
    """Add the domains of a file that are not there yet. What is there stays as it is."""
    from main_server.commands import domain as commands

    commands.seed(config, file, json=json)


@domain.command("list")
def list_domains(config: ConfigFile = None, json: Json = False) -> None:
    """Show which there are, and what is set for each."""
    from main_server.commands import domain as commands

    commands.list_all(config, json=json)


@domain.command()
def change(
    name: Name,
    queue_prefix: Prefix = None,
    max_undelivered: Undelivered = None,
    retention_days: Days = None,
    time_zone: Zone = None,
    config: ConfigFile = None,
    json: Json = False,
) -> None:
    """Change what is given, and leave the rest. What waits in a former queue is delivered."""
    from main_server.commands import domain as commands

    given = commands.Given(queue_prefix, max_undelivered, retention_days, time_zone)
    commands.change(config, name, given, json=json)


@domain.command()
def disable(
    name: Name,
    reason: Annotated[str, typer.Option(metavar="WORDS", help="Why; the audit log keeps it.")],
    config: ConfigFile = None,
    json: Json = False,
) -> None:
    """Refuse its clients and its people, until it is enabled.

    What was accepted is delivered all the same, and nothing is deleted.
    """
    from main_server.commands import domain as commands

    commands.disable(config, name, reason, json=json)


@domain.command()
def enable(name: Name, config: ConfigFile = None, json: Json = False) -> None:
    """Let its clients send and its people sign in again."""
    from main_server.commands import domain as commands

    commands.enable(config, name, json=json)
