"""`gatepost config`: check, show, reference.

Declarations only: `gatepost --help` imports this module, so what they need is imported in them.
"""

from pathlib import Path
from typing import Annotated

import typer

from gatepost.cli.commands import needs
from gatepost.cli.configuration import FOLDER

needs("pydantic", "yaml")

config = typer.Typer(
    help="The services' settings: are they right, and where does each come from.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Folder = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help=f"Where SERVICE/config.yaml of each service is; else {FOLDER}, or the checkout.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="JSON on stdout; an error as JSON on stderr.")]


@config.command()
def check(
    services: Annotated[
        list[str] | None, typer.Argument(metavar="[SERVICE]...", help="Else all that are there.")
    ] = None,
    folder: Folder = None,
    json: Json = False,
) -> None:
    """Say all that is wrong with the settings, and with the files that they name; exit code 2 then.

    With a domains.yaml in the folder, also in what it and the ledger differ: the ledger is right.
    """
    from gatepost.cli import configuring

    configuring.check(folder, services or [], json=json)


@config.command()
def show(
    service: Annotated[str, typer.Argument(metavar="SERVICE", show_default=False)],
    folder: Folder = None,
    file: Annotated[
        Path | None, typer.Option("--config", metavar="FILE", help="This one, instead.")
    ] = None,
    json: Json = False,
) -> None:
    """Show each setting and where it came from: a file, the environment, a credential, or neither.

    What is secret isn't shown.
    """
    from gatepost.cli import configuring

    configuring.show(folder, service, file, json=json)


@config.command()
def reference() -> None:
    """Write all that can be set, as Markdown."""
    from gatepost.cli.reference import write_reference

    typer.echo(write_reference(), nl=False)
