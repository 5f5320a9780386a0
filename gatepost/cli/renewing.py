"""What `gatepost cert renew` does: once, or as long as it runs."""

import os
import random
import sys
import time
from pathlib import Path
from typing import NoReturn

from gatepost.cli.connection import Connection, find_connection
from gatepost.cli.failure import Failure
from gatepost.cli.options import Options
from gatepost.cli.output import Output
from gatepost.client.errors import GatepostError
from gatepost.client.files import Files
from gatepost.client.renewing import files_of
from gatepost.client.renewing import renew as ask
from gatepost.renewal import renewable_from

LOOK_SECONDS = 3600.0
AGAIN_SECONDS = 60.0


def renew(options: Options, *, daemon: bool, now: bool) -> None:
    connection = find_connection(options, os.environ, Path.cwd())
    files = files_of(connection.ca, connection.cert, connection.key)
    output = Output(json=options.json)
    try:
        files.leaf()  # of a wrong path there is nothing to wait for
        if daemon:
            _stay(output, connection, files)
        renewed = ask(connection.url, files, only_if_due=not now)
    except GatepostError as error:
        raise Failure(error.kind, str(error)) from None
    _tell(output, files, renewed=renewed)


def _stay(output: Output, connection: Connection, files: Files) -> NoReturn:
    """Until it is ended. What goes wrong is said, and tried again: there are days left."""
    while True:
        wait = LOOK_SECONDS
        try:
            if ask(connection.url, files):
                _tell(output, files, renewed=True)
        except GatepostError as error:
            sys.stderr.write(f"gatepost: {error}\n")
            wait = AGAIN_SECONDS
        time.sleep(wait * random.uniform(0.5, 1.0))


def _tell(output: Output, files: Files, *, renewed: bool) -> None:
    leaf = files.leaf()
    due = renewable_from(leaf)
    if output.json:
        document = {"renewed": renewed, "serial": f"{leaf.serial_number:032x}"}
        output.result({**document, "not_after": leaf.not_valid_after_utc, "renewable_from": due})
    elif renewed:
        output.say(f"Renewed, until {leaf.not_valid_after_utc:%Y-%m-%d %H:%M} UTC.")
    else:
        output.say(f"Not yet: it can be renewed from {due:%Y-%m-%d %H:%M} UTC on.")
