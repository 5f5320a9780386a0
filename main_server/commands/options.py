"""The options that the main server's commands share. Light: `gatepost --help` imports this."""

from pathlib import Path
from typing import Annotated

import typer

from gatepost.cli.configuration import config_option

ConfigFile = Annotated[Path | None, config_option("The main server's", "main_server")]
Json = Annotated[bool, typer.Option("--json", help="JSON on stdout; an error as JSON on stderr.")]
Yes = Annotated[bool, typer.Option("--yes", help="Don't ask.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would be done.")]
