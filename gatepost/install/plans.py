"""The steps of an installation and of its end, in order. An upgrade is the same list: what is so
already is passed over.

The order is that of docs/running.md: the settings must do for the new release before anything
stands still; tables change while main servers stand still; callers are restarted after them.
"""

import shutil
from dataclasses import dataclass

from gatepost.install import authority, configuration, database, folders, placing, services
from gatepost.install.machine import Machine
from gatepost.install.placing import BEFORE, COMMAND, CURRENT, FOLDER, RELEASES
from gatepost.install.shipped import Release
from gatepost.install.steps import Failure, Step

KEPT = ("/etc/gatepost", "/etc/app_secrets", "/var/lib/gatepost", "/var/backups/gatepost")


@dataclass(frozen=True)
class Wanted:
    host: str
    """By which others reach this machine."""
    analytics: bool = False
    """With Spark and the nightly pipeline."""


def install(machine: Machine, release: Release, wanted: Wanted) -> list[Step]:
    is_new = placing.version_at(machine, CURRENT) is None
    check = _settings_check(machine, release)
    return [
        *folders.steps(machine, release),
        placing.make(machine, release, analytics=wanted.analytics),
        *configuration.steps(machine, release, wanted.host),
        *([] if is_new else [check]),
        database.settings(machine, release),
        database.accounts(machine, release),
        services.stop_main_server(
            machine, lambda: not database.are_current(machine, placing.place(release))
        ),
        *database.tables(machine, release),
        *authority.steps(machine, release, wanted.host),
        *([check] if is_new else []),
        services.units(machine, release),
        *placing.switch(machine, release),
        *services.enable(machine, analytics=wanted.analytics),
        *services.restarts(machine),
    ]


def uninstall(machine: Machine) -> list[Step]:
    """Data, configuration, keys and users stay."""
    return [
        *services.remove(machine),
        *(_gone(machine, name) for name in (folders.SYSUSERS, folders.TMPFILES, COMMAND)),
        *(_gone(machine, name) for name in (CURRENT, BEFORE, RELEASES, FOLDER)),
    ]


def demand_way_back(machine: Machine) -> str:
    """The release before, or a Failure with what to do where there is no way back to it."""
    former = placing.version_at(machine, BEFORE)
    if former is None or not machine.path(f"{RELEASES}/{former}").is_dir():
        raise Failure(f"There is no release before this one: {machine.path(BEFORE)} isn't there.")
    if not database.are_current(machine, f"{RELEASES}/{former}"):
        said = machine.call(
            f"{RELEASES}/{former}/bin/gatepost", "db", "current", "--config", database.MIGRATION
        )
        why = (said.stdout + said.stderr).strip()
        raise Failure(
            f"{former} can't go on with the ledger as it is: {why}\n"
            "  Where the tables have changed since, the way back is the backup that was made"
            " before (docs/backup.md):\n"
            "    systemctl stop gatepost.target, then an empty ledger, then\n"
            f"    {RELEASES}/{former}/bin/gatepost backup restore"
            " --config /etc/gatepost/backup/config.yaml\n"
            "  What was accepted since that backup is in Redis alone, if it waits there still."
        )
    return former


def _settings_check(machine: Machine, release: Release) -> Step:
    """What `gatepost config check` of that release says of the settings that are there."""
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
