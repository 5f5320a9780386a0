"""Turns commands into what is typed where they are shown: a checkout has neither units nor the
stores' own tools, and its own command is in its environment."""

import os
import re
import shlex
import sys
from pathlib import Path

from gatepost.cli.doctor.site import Site

AGAIN = "./dev down && ./dev up --detach"
"""The command that starts everything anew, with the settings of the stores as they should be."""
_LOOKED_AT = re.compile(r"^systemctl (?:status|--failed)\b.*$")
_NOT_THERE = re.compile(
    r"^(?:systemctl|systemd-tmpfiles|redis-cli|mariadb|cp|gatepost install)\b.*$"
)
_OURS = re.compile(r"(?<![\w./-])gatepost (?=[a-z])")


def as_typed(command: str, site: Site) -> str:
    """Return the command as whoever reads it here has to type it."""
    if not site.checkout:
        return command
    if _LOOKED_AT.match(command):
        return "./dev status"
    if _NOT_THERE.match(command):
        return AGAIN
    return _OURS.sub(f"{shlex.quote(own_command(Path.cwd()))} ", command)


def own_command(here: Path) -> str:
    """Return the `gatepost` that runs, by its path below this folder, or else by its full path."""
    program = Path(sys.executable).with_name("gatepost")
    return os.path.relpath(program, here) if program.is_relative_to(here) else str(program)
