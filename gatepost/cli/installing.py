"""`gatepost install` and `gatepost uninstall`: run the installer of a wheel, out of that wheel.

It is always the wheel's own that installs it; an upgrade is done by the new release, and the way
back by the one before.
"""

import os
import sys
from pathlib import Path

import typer

from gatepost.cli.failure import Failure

SETTINGS = {
    "ignore_unknown_options": True,
    "allow_extra_args": True,
    "help_option_names": [],
}
"""All that is said is for the installer."""
_HINT = "The release that runs here has its wheel in its own folder; a new one has to be named."


def install(context: typer.Context) -> None:
    """Put a release on this machine, or return to the one before: WHEEL, or --back."""
    words = list(context.args)
    named = [word for word in words if word.endswith(".whl")]
    _become(Path(named[0]) if named else _own_wheel(), [w for w in words if w not in named])


def uninstall(context: typer.Context) -> None:
    """Take Gatepost from this machine. Data, settings, keys and users stay."""
    _become(_own_wheel(), ["--uninstall", *context.args])


def _own_wheel() -> Path:
    wheels = sorted(Path(sys.prefix).glob("gatepost-*.whl"))
    if not wheels:
        raise Failure("usage", "Which wheel? gatepost install WHEEL", _HINT)
    return wheels[-1]


def _become(wheel: Path, words: list[str]) -> None:
    if not wheel.is_file():
        raise Failure("usage", f"There is no {wheel}.", _HINT)
    environment = {**os.environ, "PYTHONPATH": str(wheel.resolve())}
    command = [sys.executable, "-P", "-m", "gatepost.install", *words]
    os.execve(sys.executable, command, environment)
