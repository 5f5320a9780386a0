"""Lists the steps of an installation and of its end, in order. An upgrade is the same list: what is
so already is passed over.

The order is that of docs/running.md: the settings must do for the new release before anything
stands still; tables change while main servers stand still; callers are restarted after them.
"""

import shutil
from dataclasses import dataclass

from gatepost.install import (
    authority,
    configuration,
    database,
    folders,
    mariadb,
    placing,
    restoring,
    services,
)
from gatepost.install.machine import Machine
from gatepost.install.placing import BEFORE, COMMAND, CURRENT, FOLDER, NEXT, RELEASES
from gatepost.install.shipped import Release
from gatepost.install.steps import Failure, Step

KEPT = ("/etc/gatepost", "/etc/app_secrets", "/var/lib/gatepost", "/var/backups/gatepost")


@dataclass(frozen=True)
class Wanted:
    host: str
    """The name by which others reach this machine."""
    analytics: bool = False
    """True if Spark and the nightly pipeline are wanted."""
    is_return: bool = False
    """True on the way back, which goes on to where it went when it is run again."""
    saved: restoring.Saved | None = None
    """The copies kept of a lost machine, in whose place this one comes; None for any other."""


def install(machine: Machine, release: Release, wanted: Wanted) -> list[Step]:
    former = placing.version_at(machine, CURRENT)
    is_new, is_other = former is None, former not in (None, release.version)
    saved, was_used = wanted.saved, not is_new or machine.path(authority.FOUNDED).exists()
    check = _settings_check(machine, release)
    return [
        *([placing.begin(machine, release)] if is_other and not wanted.is_return else []),
        *folders.steps(machine, release),
        placing.make(machine, release, analytics=wanted.analytics),
        *(restoring.files(machine, release, saved) if saved else []),
        *configuration.steps(machine, release, wanted.host, is_new=not (was_used or saved)),
        *([] if is_new else [check]),
        mariadb.settings(machine, release),
        database.accounts(machine, release),
        services.stop_main_server(
            machine, lambda: not database.are_current(machine, placing.place(release))
        ),
        *(restoring.ledger(machine, release, saved) if saved else []),
        *database.tables(machine, release),
        *authority.steps(machine, release, wanted.host),
        *([check] if is_new else []),
        services.units(machine, release),
        *services.enable(machine, analytics=wanted.analytics),
        *placing.switch(machine, release),
        *services.restarts(machine),
        *([] if is_new else [placing.end(machine)]),
    ]


def uninstall(machine: Machine) -> list[Step]:
    """Return the steps that take the release away. Data, configuration, keys and users stay."""
    return [
        *services.remove(machine),
        *(_gone(machine, name) for name in (folders.SYSUSERS, folders.TMPFILES, COMMAND)),
        *(_gone(machine, name) for name in (CURRENT, BEFORE, NEXT, RELEASES, FOLDER)),
    ]


def demand_way_back(machine: Machine) -> str:
    """Return the release to go back to: after a broken-off upgrade the one that runs, else the one
    before it. Where there is no way back, raise Failure with what to do."""
    broken_off = placing.on_its_way(machine)
    former = placing.version_at(machine, CURRENT if broken_off else BEFORE)
    if former is None or not machine.path(f"{RELEASES}/{former}").is_dir():
        raise Failure(f"There is no release before this one: {machine.path(BEFORE)} isn't there.")
    if not database.are_current(machine, f"{RELEASES}/{former}"):
        said = machine.call(
            f"{RELEASES}/{former}/bin/gatepost", "db", "current", "--config", database.MIGRATION
        )
        why = (said.stdout + said.stderr).strip()
        again = f"  Or go on: mend it, and install {broken_off} again.\n" if broken_off else ""
        raise Failure(
            f"{former} can't go on with the ledger as it is: {why}\n{again}"
            "  Where the tables have changed since, the way back is the backup that was made"
            " before (docs/backup.md):\n"
            "    systemctl stop gatepost.target, then an empty ledger, then\n"
            f"    {RELEASES}/{former}/bin/gatepost backup restore"
            " --config /etc/gatepost/backup/config.yaml\n"
            "  What was accepted since that backup is in Redis alone, if it waits there still."
        )
    return former


def what_stands(machine: Machine) -> str:
    """Say what a broken-off upgrade has left standing, if anything, and what to type."""
    following, current = placing.on_its_way(machine), placing.version_at(machine, CURRENT)
    if following is None or not services.stands_still(machine):
        return ""
    return (
        f"\n  {services.MAIN_SERVER} stands still since: messages wait at the edge, and nothing is"
        f" delivered.\n  Back to {current}, which ran until now: gatepost install --back"
    )


def _settings_check(machine: Machine, release: Release) -> Step:
    """Return the step that has that release's `gatepost config check` look at the settings."""
    command = (f"{placing.place(release)}/bin/gatepost", "config", "check")
    folder = ("--folder", configuration.ETC)

    def complain() -> None:
        done = machine.call(*command, *folder)
        raise Failure(f"{(done.stdout + done.stderr).strip()}\n  Nothing was stopped or switched.")

    return Step(
        f"the settings in {configuration.ETC} do for release {release.version}",
        lambda: (
            machine.path(command[0]).exists() and machine.call(*command, *folder).returncode == 0
        ),
        complain,
    )


def _gone(machine: Machine, name: str) -> Step:
    place = machine.path(name)

    def take_away() -> None:
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink()

    return Step(f"{name} is gone", lambda: not place.is_symlink() and not place.exists(), take_away)
