"""`gatepost enrol`. A declaration only, so that --help is quick."""

from pathlib import Path
from typing import Annotated

import typer


def enrol(
    url: Annotated[
        str,
        typer.Argument(metavar="URL", help="Where to enrol, http://host:port.", show_default=False),
    ],
    folder: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where key and certificate go. [~/.config/gatepost]"),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Its first line is the token; else you are asked."),
    ] = None,
    proxy: Annotated[
        str | None,
        typer.Option(metavar="URL", help="An HTTP proxy on the way, from now on."),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="JSON on stdout; an error as JSON on stderr.")
    ] = False,
) -> None:
    """Enrol with the token that you were given: make a key here, and have it certified.

    The key never leaves this machine. Interrupted, it goes on with the same key when run again.
    """
    from gatepost.cli import enrolling

    enrolling.enrol(url, folder, token_file, proxy, json=json)
