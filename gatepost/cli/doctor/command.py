"""`gatepost doctor`.

Declarations only: `gatepost --help` imports this module, so what they need is imported in them.
"""

from pathlib import Path
from typing import Annotated

import typer

from gatepost.cli.commands import needs
from gatepost.cli.config import Json
from gatepost.cli.configuration import FOLDER

needs("httpx", "msgspec", "pydantic", "redis", "yaml")

doctor = typer.Typer(rich_markup_mode=None, add_completion=False)


@doctor.command("doctor")
def examine(
    looks: Annotated[list[str] | None, typer.Argument(metavar="LOOK", help="Else all.")] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help=f"Where SERVICE/config.yaml of each service is; else {FOLDER}, or the checkout.",
        ),
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option(metavar="LOOK", help="Not this one; may be repeated.")
    ] = None,
    bundle: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.tar.gz", help="Write an archive for support as well: no secret is in it."
        ),
    ] = None,
    reference: Annotated[
        bool, typer.Option("--reference", help="Write the page of all looks, and look at nothing.")
    ] = False,
    json: Json = False,
) -> None:
    """Look at what an expert would look at on this machine; name the command that mends each.

    Nothing is changed. Best as root: what can't be seen for want of rights is said so.

    \b
    Exit codes, as monitoring expects them:
      0  all is as it should be
      1  there are warnings
      2  something is wrong; or the command can't look at all
      3  something can't be told, and nothing is worse
    """
    from gatepost.cli.doctor import examining

    if reference:
        examining.write_reference()
        return
    examining.examine(folder, looks or [], without or [], bundle, json=json)
