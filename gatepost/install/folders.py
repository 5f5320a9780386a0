"""Makes users, and folders with their owners and modes, by systemd's own tools and our files."""

from gatepost.install.machine import Machine, has
from gatepost.install.shipped import Release
from gatepost.install.steps import Step

SYSUSERS, TMPFILES = "/usr/lib/sysusers.d/gatepost.conf", "/usr/lib/tmpfiles.d/gatepost.conf"


def steps(machine: Machine, release: Release) -> list[Step]:
    users = release.read("systemd/gatepost.sysusers")
    folders = release.read("systemd/gatepost.tmpfiles")

    def make_users() -> None:
        _put(machine, SYSUSERS, users)
        machine.run("systemd-sysusers", SYSUSERS)

    def make_folders() -> None:
        _put(machine, TMPFILES, folders)
        machine.run("systemd-tmpfiles", "--create", TMPFILES)

    return [
        Step(
            f"a user for each service, by {SYSUSERS}",
            lambda: has(machine.path(SYSUSERS), users) and _are_known(machine, users.decode()),
            make_users,
        ),
        Step(
            f"folders below /etc/gatepost, /var/lib/gatepost, /var/backups/gatepost, by {TMPFILES}",
            lambda: has(machine.path(TMPFILES), folders) and _are_there(machine, folders.decode()),
            make_folders,
        ),
    ]


def _put(machine: Machine, name: str, content: bytes) -> None:
    file = machine.path(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    machine.write(file, content, 0o644)


def _are_known(machine: Machine, lines: str) -> bool:
    rows = [line.split() for line in lines.splitlines()]
    wanted = {row[1] for row in rows if row and row[0] == "u"}
    return wanted <= machine.ids("passwd").keys() & machine.ids("group").keys()


def _are_there(machine: Machine, lines: str) -> bool:
    users, groups = machine.ids("passwd"), machine.ids("group")
    for line in lines.splitlines():
        if not line.startswith("d "):
            continue
        _, name, mode, user, group, *_ = line.split()
        folder = machine.path(name)
        if not folder.is_dir():
            return False
        found = folder.stat()
        if (found.st_uid, found.st_gid) != (users.get(user), groups.get(group)):
            return False
        if found.st_mode & 0o7777 != int(mode, 8):
            return False
    return True
