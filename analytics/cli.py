"""`gatepost analytics`: run, rebuild, status.

Declarations only: `gatepost --help` imports this module, so each command imports what it needs.
"""

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from gatepost.cli.commands import needs
from gatepost.cli.configuration import config_option

needs("prometheus_client", "pymysql", "pyspark", "sqlalchemy", extras="server,analytics")

analytics = typer.Typer(
    help="The nightly pipeline: the lake and the reports.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

ConfigFile = Annotated[Path | None, config_option("The pipeline's", "analytics")]
Day = Annotated[datetime, typer.Argument(formats=["%Y-%m-%d"], metavar="YYYY-MM-DD")]


@analytics.command()
def run(
    config: ConfigFile = None,
    catch_up: Annotated[
        bool, typer.Option("--catch-up", help="However many days are due, do them all.")
    ] = False,
) -> None:
    """Extract the days that can still change, check them, publish them with their reports.

    Run it every night; run again, it changes nothing. What it says is JSON lines.
    """
    from analytics import commands

    commands.submit(config, ["run", *(["--catch-up"] if catch_up else [])])


@analytics.command()
def rebuild(first: Day, last: Day, config: ConfigFile = None) -> None:
    """Make the reports of published days again, from the lake. Both days are meant, too."""
    from analytics import commands

    commands.submit(config, ["rebuild", f"{first:%Y-%m-%d}", f"{last:%Y-%m-%d}"])


@analytics.command()
def status(
    config: ConfigFile = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many runs.")] = 5,
    json: Annotated[
        bool, typer.Option("--json", help="JSON on stdout; an error as JSON on stderr.")
    ] = False,
) -> None:
    """Show the last runs, and how far the lake is. Exit code 1 if a night is missing."""
    from analytics import commands

    commands.status(config, limit, json=json)
