"""Renews certificates, for `gatepost cert renew`: once, or for as long as it runs."""

import random
import sys
import time
from pathlib import Path
from typing import NoReturn

from gatepost.cli.failure import Failure
from gatepost.cli.holding import Held, find_held
from gatepost.cli.options import Options
from gatepost.cli.output import Output
from gatepost.client.errors import GatepostError
from gatepost.client.files import Files
from gatepost.wire.renewal import renewable_from

LOOK_SECONDS = 3600.0
AGAIN_SECONDS = 60.0


def renew(options: Options, config: Path | None, *, daemon: bool, now: bool) -> None:
    output = Output(json=options.json)
    try:
        held = find_held(options, config)
        for one in held:
            one.files.leaf()  # of a wrong path there is nothing to wait for
        if daemon:
            _stay(output, held)
        for one in held:
            _tell(output, one.files, renewed=one.renew(now))
    except GatepostError as error:
        raise Failure(error.kind, str(error)) from None


def _stay(output: Output, held: list[Held]) -> NoReturn:
    """Renew when it is due, until ended. Errors are told, and retried: there are days left."""
    while True:
        wait = LOOK_SECONDS
        for one in held:
            try:
                if one.renew(False):
                    _tell(output, one.files, renewed=True)
            except (GatepostError, Failure) as error:
                sys.stderr.write(f"gatepost: {error}\n")
                wait = AGAIN_SECONDS
        time.sleep(wait * random.uniform(0.5, 1.0))


def _tell(output: Output, files: Files, *, renewed: bool) -> None:
    leaf = files.leaf()
    due = renewable_from(leaf)
    if output.json:
        document = {"renewed": renewed, "serial": f"{leaf.serial_number:032x}"}
        times = {"not_after": leaf.not_valid_after_utc, "renewable_from": due}
        output.result({"file": str(files.cert), **document, **times})
    elif renewed:
        output.say(f"{files.cert}: renewed, until {leaf.not_valid_after_utc:%Y-%m-%d %H:%M} UTC.")
    else:
        output.say(f"{files.cert}: not yet; it can be renewed from {due:%Y-%m-%d %H:%M} UTC on.")
