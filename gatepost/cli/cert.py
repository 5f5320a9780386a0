"""`gatepost cert`: what a holder does with its certificate; the CA's machine adds its commands."""

import typer

from gatepost.cli.commands import CertCommands

cert = typer.Typer(
    cls=CertCommands,
    help="Certificates: renew yours; on the CA's machine, issue, list and revoke them.",
    no_args_is_help=True,
)


@cert.callback()
def root() -> None:
    pass
