"""The options that the main server's commands share. Light: `gatepost --help` imports this."""

from pathlib import Path
from typing import Annotated

import typer

ConfigFile = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="The main server's YAML; else the environment."),
]
Json = Annotated[bool, typer.Option("--json", help="JSON on stdout; an error as JSON on stderr.")]
Yes = Annotated[bool, typer.Option("--yes", help="Don't ask.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would be done.")]
