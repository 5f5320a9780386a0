"""The installer's command: reads what is wanted, asks, does it, and says what is left to do."""

import argparse
import fcntl
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from gatepost.install import demands, placing, plans, restoring, services
from gatepost.install.machine import Machine
from gatepost.install.shipped import this_release
from gatepost.install.steps import Failure, Step, carry_out, show

NEXT = """
Keep copies of these elsewhere; without them a backup opens nothing:
  /etc/app_secrets/aes.key
  /etc/gatepost/backup/credentials/store.passphrase_file
Take this away from here, to where it is offline:
  /var/lib/gatepost/main_server/ca/root.key
What else a new machine wants when this one is lost: docs/disaster.md
What comes next, from the first administrator to the first message: docs/install.md
"""
RESTORED = """
It is in the place of the lost one, with its ledger, keys, settings and CA.
Look at it: gatepost doctor
What is left to do: docs/disaster.md, "A machine with its stores", after step 3
"""


def main(arguments: Sequence[str]) -> int:
    asked = _parse(arguments)
    os.umask(0o022)  # whatever root's is: services run on what is put there
    machine = Machine(asked.root)
    try:
        demands.root_alone()
        with _alone(machine):
            if asked.uninstall:
                return _uninstall(machine, asked)
            return _back(machine, asked) if asked.back else _install(machine, asked)
    except (Failure, OSError) as failure:
        print(f"gatepost: {failure}{plans.what_stands(machine)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        words = f"interrupted. Run it again: it goes on from there.{plans.what_stands(machine)}"
        print(f"gatepost: {words}", file=sys.stderr)
        return 130


def _install(machine: Machine, asked: argparse.Namespace) -> int:
    release = this_release()
    analytics = asked.analytics or "gatepost-nightly.timer" in services.enabled(machine)
    demands.check(machine, analytics=analytics)
    saved = restoring.Saved(asked.restore.resolve()) if asked.restore else None
    if saved:
        restoring.check(machine, saved)
    former = placing.version_at(machine, placing.CURRENT)
    host = demands.host(asked.host, is_new=former is None)
    wanted = plans.Wanted(host, analytics, asked.returning, saved)
    is_other = former not in (None, release.version)
    before = f", in the place of {former}" if is_other else ""
    print(f"Release {release.version}{before}, on {machine.root}:")
    changed = _go(plans.install(machine, release, wanted), asked)
    if changed is None:
        return 0
    if not changed:
        print("Nothing had to be changed.")
    elif saved:
        print(RESTORED, end="")
    elif former is None:
        print(NEXT, end="")
    elif is_other:
        print(f"The way back to {former}: gatepost install --back")
    if changed and not machine.live:
        print("Nothing was started: this is another root folder.")
    return 0


def _back(machine: Machine, asked: argparse.Namespace) -> NoReturn:
    """Have the release before put itself there again, by the installer in its own wheel."""
    former = plans.demand_way_back(machine)
    wheels = sorted(machine.path(f"{placing.RELEASES}/{former}").glob("*.whl"))
    if not wheels:
        raise Failure(f"Release {former} has lost its wheel: install it again from a copy.")
    options = ["--returning", "--root", str(machine.root)]
    options += ["--dry-run"] if asked.dry_run else []
    options += ["--yes"] if asked.yes else []
    sys.stdout.flush()
    command = [sys.executable, "-P", "-m", "gatepost.install", *options]
    os.execve(sys.executable, command, {**os.environ, "PYTHONPATH": str(wheels[-1])})


def _uninstall(machine: Machine, asked: argparse.Namespace) -> int:
    print(f"Gatepost goes from {machine.root}; its data, configuration, keys and users stay:")
    if _go(plans.uninstall(machine), asked) is not None:
        print(f"Still there: {', '.join(plans.KEPT)},")
        print("the ledger in MariaDB with its settings, and users named gatepost-…")
    return 0


def _go(steps: list[Step], asked: argparse.Namespace) -> list[str] | None:
    """Carry out the steps; return what was changed, None if they were only shown or not wanted."""
    if asked.dry_run:
        wanted = show(steps, _say)
        print(f"{wanted} of {len(steps)} steps would be done. Nothing was changed.")
        return None
    if not asked.yes and not _agreed(steps):
        print("Nothing was changed.")
        return None
    return carry_out(steps, _say).changed


def _agreed(steps: list[Step]) -> bool:
    if not sys.stdin.isatty():
        raise Failure("Say --yes where nobody can be asked; --dry-run shows the steps.")
    if not show(steps, _say):
        return True
    return input("Do it? [y/N] ").strip().lower() in ("y", "yes")


@contextmanager
def _alone(machine: Machine) -> Iterator[None]:
    """Hold a lock, so that only one installation at a time is under way on a machine."""
    folder = machine.path("/run")
    if not folder.is_dir():
        raise Failure(f"{machine.root} is no root folder of a system: there is no {folder}.")
    with (folder / "gatepost-install.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Failure("Another installation is under way on this machine.") from None
        yield


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="gatepost install",
        description="Put the release of a wheel on this machine, or bring the machine to it.",
        allow_abbrev=False,
    )
    add: Callable[..., object] = parser.add_argument
    add("--host", metavar="NAME", help="the name by which others reach this machine")
    add("--analytics", action="store_true", help="with Spark, for the nightly pipeline")
    restore = "on a new machine: go on where a lost one was, by what was kept of it in this folder"
    add("--restore", type=Path, metavar="FOLDER", help=restore)
    add("--back", action="store_true", help="return to the release before")
    add("--returning", action="store_true", help=argparse.SUPPRESS)  # what --back runs
    add("--uninstall", action="store_true", help="take it away; data, settings, keys, users stay")
    add("--root", type=Path, default=Path("/"), metavar="DIR", help="install below another root")
    add("--dry-run", action="store_true", help="show every step, change nothing")
    add("--yes", action="store_true", help="don't ask")
    return parser.parse_args(arguments)


def _say(words: str) -> None:
    print(words, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
