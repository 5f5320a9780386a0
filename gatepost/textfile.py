"""Writes metrics of what runs now and then into files for the node exporter's textfile collector.

A file is there whole or as it was, and the collector, which runs as somebody else, may read it:
units run under a umask that would keep the collector from that. A file that can't be written is
told on standard error, and changes nothing of what was done: that the file grows old is what an
alert is for.
"""

import os
import sys
from pathlib import Path

from prometheus_client import CollectorRegistry, generate_latest

from gatepost.owners import Owner, give


def write(
    folder: Path | None, name: str, registry: CollectorRegistry, owner: Owner | None = None
) -> None:
    """Write the metrics into a file; nothing if `folder` is None. `owner` is who writes the file at
    night: in that folder, where nobody takes away another's file, one of root's would stay for
    good."""
    if folder is None:
        return
    draft = folder / f".{name}.{os.getpid()}"
    try:
        draft.unlink(missing_ok=True)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            give(descriptor, owner)
            os.fchmod(descriptor, 0o644)
            stream.write(generate_latest(registry))
        draft.replace(folder / name)
    except OSError as error:
        draft.unlink(missing_ok=True)
        sys.stderr.write(f"gatepost: {folder / name} can't be written: {error.strerror}\n")
