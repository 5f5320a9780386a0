"""`gatepost install` and `gatepost uninstall`: run the installer of a wheel, out of that wheel.

It is always the wheel's own that installs it; an upgrade is done by the new release, and the way
back by the one before. What is asked for is handed on as it is.
"""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from gatepost.cli.failure import Failure

_HINT = "The release that runs here has its wheel in its own folder; a new one has to be named."

installer = typer.Typer(rich_markup_mode=None)
uninstaller = typer.Typer(rich_markup_mode=None)

Root = Annotated[Path | None, typer.Option(metavar="DIR", help="Below another root folder.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show every step, change nothing.")]
Yes = Annotated[bool, typer.Option("--yes", help="Don't ask.")]


@installer.command("install")
def install(
    wheel: Annotated[
        Path | None, typer.Argument(metavar="WHEEL", help="Else that of the release that runs.")
    ] = None,
    host: Annotated[
        str | None, typer.Option(metavar="NAME", help="By which others reach this machine.")
    ] = None,
    analytics: Annotated[
        bool, typer.Option("--analytics", help="With Spark, for the nightly pipeline.")
    ] = False,
    back: Annotated[bool, typer.Option("--back", help="Return to the release before.")] = False,
    root: Root = None,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Put the release of a wheel on this machine, or return to the one before.

    Each step is passed over that is so already; again, nothing is changed. Services are restarted
    one after the other. For root, on Debian and Ubuntu.
    """
    words = ["--host", host] if host else []
    words += ["--analytics"] if analytics else []
    words += ["--back"] if back else []
    _become(wheel or _own_wheel(), [*words, *_common(root, dry_run=dry_run, yes=yes)])


@uninstaller.command("uninstall")
def uninstall(root: Root = None, dry_run: DryRun = False, yes: Yes = False) -> None:
    """Take Gatepost from this machine. Data, settings, keys and users stay."""
    _become(_own_wheel(), ["--uninstall", *_common(root, dry_run=dry_run, yes=yes)])


def _common(root: Path | None, *, dry_run: bool, yes: bool) -> list[str]:
    words = ["--root", str(root)] if root else []
    return words + ["--dry-run"] * dry_run + ["--yes"] * yes


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
