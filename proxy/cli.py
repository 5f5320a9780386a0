"""`gatepost proxy`: drain, undrain, on the machine that it runs on.

Declarations only: `gatepost --help` imports this module, so each command imports what it needs.
"""

from pathlib import Path
from typing import Annotated

import typer

from gatepost.cli.commands import needs
from gatepost.cli.configuration import config_option

needs("pydantic", "yaml")

proxy = typer.Typer(
    help="A running proxy. Run these on its machine, as its user or as root.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

ConfigFile = Annotated[Path | None, config_option("The proxy's", "proxy")]
Instance = Annotated[int, typer.Option(min=1, max=100, help="Which of several on this machine.")]
Json = Annotated[bool, typer.Option("--json", help="JSON on stdout; an error as JSON on stderr.")]


@proxy.command()
def drain(
    wait: Annotated[bool, typer.Option("--wait", help="Until it takes no more posts.")] = False,
    config: ConfigFile = None,
    instance: Instance = 1,
    json: Json = False,
) -> None:
    """Have a load balancer send to others: /readyz says 503, and each answer ends its connection.

    Posts are taken for `draining.grace_seconds` yet, then refused with 503. What was begun is
    finished. A restart ends it, as `undrain` does.
    """
    from proxy import draining

    draining.drain(config, instance, wait=wait, json=json)


@proxy.command()
def undrain(config: ConfigFile = None, instance: Instance = 1, json: Json = False) -> None:
    """Take it back: the proxy is ready again, and takes posts."""
    from proxy import draining

    draining.undrain(config, instance, json=json)
