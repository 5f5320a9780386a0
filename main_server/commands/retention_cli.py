"""`gatepost retention`: show, set, hold, lift, run, prove, status.

Declarations only: `gatepost --help` imports this module, so each command imports what it needs.
"""

from pathlib import Path
from typing import Annotated

import typer

from gatepost.cli.commands import needs
from gatepost.cli.configuration import config_option
from main_server.commands.options import ConfigFile, DryRun, Json

needs("msgspec", "prometheus_client", "pymysql", "sqlalchemy")

retention = typer.Typer(
    help="How long messages are kept, and their end. Run these where the main server runs.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

NightFile = Annotated[Path | None, config_option("Retention's own", "retention")]
Client = Annotated[str | None, typer.Option("--client", metavar="DOMAIN:NAME", help="One client.")]
Domain = Annotated[
    str | None, typer.Option("--domain", metavar="DOMAIN", help="A domain, all of its clients.")
]
Reason = Annotated[
    str, typer.Option("--reason", metavar="WORDS", help="Why; the audit log keeps it.")
]


@retention.command()
def show(
    client: Client = None, domain: Domain = None, config: ConfigFile = None, json: Json = False
) -> None:
    """Show what is set, and which legal holds there are; of all, or of one domain or client."""
    from main_server.commands import retention as commands

    commands.show(config, client, domain, json=json)


@retention.command("set")
def set_days(
    client: Client = None,
    days: Annotated[
        int | None,
        typer.Option(metavar="DAYS", help="Of this client, 6 to 3650; 0 is its domain's."),
    ] = None,
    lake_days: Annotated[
        int | None, typer.Option(metavar="DAYS", help="The lake's, which has no content.")
    ] = None,
    report_days: Annotated[
        int | None, typer.Option(metavar="DAYS", help="The reports', which are numbers.")
    ] = None,
    config: ConfigFile = None,
    json: Json = False,
) -> None:
    """Set for how long a client's messages are kept, or the lake and the reports.

    A domain's days are set with `gatepost domain change`.
    """
    from main_server.commands import retention as commands

    commands.set_days(config, client, days, lake_days, report_days, json=json)


@retention.command()
def hold(
    reason: Reason,
    client: Client = None,
    domain: Domain = None,
    config: ConfigFile = None,
    json: Json = False,
) -> None:
    """Put a client or a domain on legal hold: nothing of it goes until the hold is lifted.

    What has gone before stays gone.
    """
    from main_server.commands import retention as commands

    commands.hold(config, client, domain, reason, json=json)


@retention.command()
def lift(
    hold_id: Annotated[str, typer.Argument(metavar="HOLD", show_default=False)],
    reason: Reason,
    config: ConfigFile = None,
    json: Json = False,
) -> None:
    """Lift a legal hold. What is past its day goes with the next run."""
    from main_server.commands import retention as commands

    commands.lift(config, hold_id, reason, json=json)


@retention.command()
def run(
    dry_run: DryRun = False,
    confirm: Annotated[
        str | None,
        typer.Option(metavar="CODE", help="What was shown is meant, however much it is."),
    ] = None,
    config: NightFile = None,
    json: Json = False,
) -> None:
    """Take away what is past its day, with its keys, and prove that it has gone.

    Run it every night, after the pipeline; run again, it changes nothing. Exit code 1 if something
    is left, 3 if it would be more than usual, 5 if a backup is in the way or another one runs.
    """
    from main_server.commands import retention as commands

    commands.run(config, confirm, dry_run=dry_run, json=json)


@retention.command()
def prove(config: NightFile = None, json: Json = False) -> None:
    """Prove that nothing is left past its day: no message, no key, no copy of one.

    Exit code 1 if something is left, or if there was no whole run for 26 hours.
    """
    from main_server.commands import retention as commands

    commands.prove(config, json=json)


@retention.command()
def status(
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many runs.")] = 5,
    config: ConfigFile = None,
    json: Json = False,
) -> None:
    """Show the last runs. Exit code 1 if the last one failed, or a night is missing."""
    from main_server.commands import retention as commands

    commands.status(config, limit, json=json)
