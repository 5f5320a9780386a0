"""`gatepost cert`: what a holder does with its certificate; the CA's machine adds its commands.

Declarations only, so that --help is quick.
"""

from pathlib import Path
from typing import Annotated

import typer

from gatepost.cli.commands import CertCommands
from gatepost.cli.options import Options, with_options

cert = typer.Typer(
    cls=CertCommands,
    help="Certificates: renew yours; on the CA's machine, issue, list and revoke them.",
    no_args_is_help=True,
)


@cert.callback()
def root() -> None:
    pass


@cert.command()
@with_options
def renew(
    options: Options,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A service's YAML: renew what that service has, instead."
        ),
    ] = None,
    daemon: Annotated[
        bool, typer.Option("--daemon", help="Stay, and renew whenever it is time.")
    ] = False,
    now: Annotated[
        bool, typer.Option("--now", help="Ask even if it is early; the gateway decides.")
    ] = False,
) -> None:
    """Renew your certificate, with a new key: from two thirds of its life on.

    The files are replaced in their places; until it expires, the old one is good as well. What runs
    takes the new one up by itself.
    """
    from gatepost.cli import renewing

    renewing.renew(options, config, daemon=daemon, now=now)
