"""`gatepost intake`: pause, resume, list.

Declarations only: `gatepost --help` imports this module, so each command imports what it needs.
"""

from typing import Annotated

import typer

from gatepost.cli.commands import needs
from main_server.commands.options import ConfigFile, Json, Yes

needs("msgspec", "pymysql", "sqlalchemy")

intake = typer.Typer(
    help="Whether proxies take messages in. Run these with the main server's settings.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Domain = Annotated[
    str | None, typer.Argument(metavar="[DOMAIN]", help="Of this domain.", show_default=False)
]
Everywhere = Annotated[bool, typer.Option("--all", help="Of all domains, new ones too.")]


@intake.command()
def pause(
    reason: Annotated[str, typer.Option(metavar="WORDS", help="Why; the audit log keeps it.")],
    domain: Domain = None,
    everywhere: Everywhere = False,
    yes: Yes = False,
    config: ConfigFile = None,
    json: Json = False,
) -> None:
    """Answer posts with 503 and Retry-After until intake is resumed. What was accepted goes on.

    Proxies hear of it from a main server; from then on they hold to it by themselves.
    """
    from main_server.commands import intake as commands

    commands.pause_intake(
        config, commands.whose(domain, everywhere=everywhere), reason, yes=yes, json=json
    )


@intake.command()
def resume(
    domain: Domain = None,
    everywhere: Everywhere = False,
    reason: Annotated[str, typer.Option(metavar="WORDS", help="Why; the audit log keeps it.")] = "",
    config: ConfigFile = None,
    json: Json = False,
) -> None:
    """Take messages in again. A domain that was paused by itself stays so when all are resumed."""
    from main_server.commands import intake as commands

    commands.resume_intake(config, commands.whose(domain, everywhere=everywhere), reason, json=json)


@intake.command("list")
def list_paused(config: ConfigFile = None, json: Json = False) -> None:
    """Show of which domains nothing is taken in, since when, by whom and why."""
    from main_server.commands import intake as commands

    commands.list_intake(config, json=json)
