"""Finds the settings that a command isn't told: the one place that decides where they are.

What `--config` or `--folder` names comes first, then the environment, if it says where the stores
are; then /etc/gatepost; then the checkout that this folder is in, if its stack runs. Nothing else
is guessed: by settings that nobody gave, a store would be looked for where it never was.
"""

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from gatepost.cli.failure import Failure

FOLDER = Path("/etc/gatepost")
STORES = ("DATABASE_URL", "DB_HOST", "REDIS_URL", "REDIS_HOST")
"""The variables of the environment that say where a store is."""


def config_option(whose: str, *services: str) -> Any:
    """Return the option `--config` of a command that wants the settings of one of these services:
    of the first that has any."""

    def find(ctx: typer.Context, given: Path | None) -> Path | None:
        if given is not None or ctx.resilient_parsing:
            return given
        return find_file(*services)

    return typer.Option(
        "--config",
        metavar="FILE",
        callback=find,
        help=f"{whose} YAML; else {FOLDER}, the environment, the checkout that runs here.",
    )


def find_file(*services: str) -> Path | None:
    """Return the file of settings; None if there is none in our folder and the environment says
    where the stores are. A file in our folder comes first; the environment wins over it when it is
    read, as it does for services.

    Raise Failure if nobody says where the settings are.
    """
    if (found := _first(FOLDER, services)) is not None:
        return found
    if _environment_says():
        return None
    checkout = next(checkouts_of(Path.cwd()), None)
    runs = checkout is not None and is_running(checkout)
    if checkout is not None and runs and (found := _first(checkout, services)) is not None:
        return found
    raise _not_found(services, checkout, runs=runs)


def file_of(folder: Path, service: str) -> Path:
    """Return SERVICE/config.yaml in the folder, or SERVICE.yaml, as `./dev up` writes it."""
    whole, flat = folder / service / "config.yaml", folder / f"{service}.yaml"
    return flat if flat.is_file() and not whole.exists() else whole


def checkouts_of(here: Path) -> Iterator[Path]:
    """Yield the folders of settings of the checkouts that a folder is in.

    Only a folder of our own counts: another user's could name programs of his.
    """
    for root in (here, *here.parents):
        place = root / "var" / "config"
        try:
            if place.stat().st_uid == os.geteuid():
                yield place
        except OSError:
            continue


def is_running(place: Path) -> bool:
    """Return whether a stack runs by these settings: its supervisor holds a lock while it lives."""
    try:
        with (place.parent / "run" / "supervisor.lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _environment_says() -> bool:
    from dotenv import dotenv_values

    given = {**dotenv_values(Path(".env")), **os.environ}
    return any(given.get(name) for name in STORES)


def _first(folder: Path, services: tuple[str, ...]) -> Path | None:
    """Return the first file that is there. One that may not be read counts: its reader says so."""
    for file in (file_of(folder, service) for service in services):
        try:
            file.stat()
        except PermissionError:
            return file
        except OSError:
            continue
        return file
    return None


def _not_found(services: tuple[str, ...], checkout: Path | None, *, runs: bool) -> Failure:
    names = " or ".join(str(FOLDER / service / "config.yaml") for service in services)
    hint = "Name the file: --config FILE."
    if checkout is None:
        here = "this folder is in no checkout"
    elif runs:
        here = f"the stack of {checkout.parents[1]} has none of this"
    else:
        here = f"the stack of {checkout.parents[1]} does not run"
        hint = "Start it: ./dev up --detach; or name the file: --config FILE."
    return Failure("usage", f"No settings were found: there is no {names}, and {here}.", hint)
