"""Metrics of what runs now and then, in files for the node exporter's textfile collector.

A file is there whole or as it was, and the collector, who is somebody else, may read it: units run
under a umask that would keep it from that. One that can't be written is said, and changes nothing
of what was done: that it grows old is what an alert is for.
"""

import os
import sys
from pathlib import Path

from prometheus_client import CollectorRegistry, generate_latest


def write(folder: Path | None, name: str, registry: CollectorRegistry) -> None:
    """`folder` None: nobody wants to know."""
    if folder is None:
        return
    draft = folder / f".{name}.{os.getpid()}"
    try:
        draft.write_bytes(generate_latest(registry))
        draft.chmod(0o644)
        draft.replace(folder / name)
    except OSError as error:
        draft.unlink(missing_ok=True)
        sys.stderr.write(f"gatepost: {folder / name} can't be written: {error.strerror}\n")
