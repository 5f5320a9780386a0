"""Puts the release in its place: a virtual environment of its own below /opt/gatepost/releases, and
the links.

A release is whole when its mark is there, which is written last and names the wheel that it was
made of. The wheel stays in it: the way back runs out of it. A whole one is never taken away to be
made anew, since services run on it: what it lacks is put into it, and Spark stays where it is.
"""

import hashlib
import shutil
from pathlib import Path

from gatepost.install.machine import Machine, has, point
from gatepost.install.shipped import Release
from gatepost.install.steps import Failure, Step

FOLDER = "/opt/gatepost"
RELEASES, CURRENT, BEFORE = f"{FOLDER}/releases", f"{FOLDER}/current", f"{FOLDER}/before"
NEXT = f"{FOLDER}/next"
"""The release that an upgrade is on its way to; there only until that upgrade has come to its end.
"""
COMMAND = "/usr/local/bin/gatepost"
MARK = "made-of"


def place(release: Release) -> str:
    return f"{RELEASES}/{release.version}"


def version_at(machine: Machine, link: str) -> str | None:
    """Return the release that a link names; None if there is none."""
    path = machine.path(link)
    return path.readlink().name if path.is_symlink() else None


def begin(machine: Machine, release: Release) -> Step:
    """Return the step that notes, first of all, which release is on its way: wherever the upgrade
    is broken off, the way back is to the release that runs."""
    former = version_at(machine, CURRENT)
    return Step(
        f"{NEXT} is {release.version}, until it runs in the place of {former}",
        lambda: version_at(machine, NEXT) == release.version,
        lambda: point(machine.path(NEXT), place(release)),
    )


def end(machine: Machine) -> Step:
    link = machine.path(NEXT)
    return Step(
        f"{NEXT} is gone: no other is on its way", lambda: not link.is_symlink(), link.unlink
    )


def on_its_way(machine: Machine) -> str | None:
    """Return the release that an upgrade was broken off on its way to, if it isn't current yet."""
    following = version_at(machine, NEXT)
    return following if following != version_at(machine, CURRENT) else None


def make(machine: Machine, release: Release, *, analytics: bool) -> Step:
    folder = machine.path(place(release))
    made = _made_of(folder)
    analytics = analytics or made[1:] == ["analytics"]
    lock = "analytics" if analytics else "server"
    wanted = f"{hashlib.sha256(release.wheel.read_bytes()).hexdigest()} {lock}\n"
    extra = " and Spark" if analytics else ""
    return Step(
        f"release {release.version}{extra} in {place(release)}, by the lock {lock}.txt",
        lambda: has(folder / MARK, wanted.encode()),
        lambda: _make(machine, release, lock, wanted),
    )


def _make(machine: Machine, release: Release, lock: str, wanted: str) -> None:
    """Make the release. What is there without a mark was left by an interruption, and goes."""
    folder = machine.path(place(release))
    if made := _made_of(folder):
        _refuse_another(made, wanted, release.version)
        return _fill(machine, release, lock, wanted)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o755, parents=True)
    try:
        shutil.copyfile(release.wheel, folder / release.wheel.name)
        _fill(machine, release, lock, wanted)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _made_of(folder: Path) -> list[str]:
    """Return the wheel's digest and the lock's name; nothing as long as the release isn't whole."""
    try:
        return (folder / MARK).read_text().split()
    except FileNotFoundError:
        return []


def _refuse_another(made: list[str], wanted: str, version: str) -> None:
    """Raise Failure if this version was made of another wheel: a version is one wheel."""
    if made[:1] != wanted.split()[:1]:
        raise Failure(
            f"There is a release {version} already, made of another wheel.\n"
            "  Give the new one a version of its own, or take that one away: gatepost uninstall"
        )


def _fill(machine: Machine, release: Release, lock: str, wanted: str) -> None:
    """Install the release's packages. Done again in a whole one, it adds what is missing."""
    inside, wheel = place(release), release.wheel.name
    folder = machine.path(inside)
    (folder / "lock.txt").write_bytes(release.read(f"locks/{lock}.txt"))
    (folder / "constraints.txt").write_bytes(release.read("locks/build-constraints.txt"))
    machine.run("/usr/bin/python3", "-m", "venv", inside)
    constraints = f"{inside}/constraints.txt"
    quiet = {
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_CONSTRAINT": constraints,
        "PIP_BUILD_CONSTRAINT": constraints,
        "PIP_ROOT_USER_ACTION": "ignore",
    }
    pip = (f"{inside}/bin/python", "-m", "pip", "install", "--quiet", "--no-cache-dir")
    machine.run(*pip, "--require-hashes", "-r", f"{inside}/lock.txt", extra=quiet)
    machine.run(*pip, "--no-deps", "--no-index", f"{inside}/{wheel}", extra=quiet)
    machine.run(f"{inside}/bin/gatepost", "--version")
    machine.write(folder / MARK, wanted.encode(), 0o644)


def switch(machine: Machine, release: Release) -> list[Step]:
    """Return the steps that make the release the current one; `before` becomes the one that was
    current until now."""
    wanted = place(release)

    def link() -> None:
        if (former := version_at(machine, CURRENT)) is not None:
            point(machine.path(BEFORE), f"{RELEASES}/{former}")
        point(machine.path(CURRENT), wanted)

    def put_command() -> None:
        machine.path(COMMAND).parent.mkdir(parents=True, exist_ok=True)
        point(machine.path(COMMAND), f"{CURRENT}/bin/gatepost")

    return [
        Step(
            f"{CURRENT} is {release.version}",
            lambda: version_at(machine, CURRENT) == release.version,
            link,
        ),
        Step(
            f"{COMMAND} is that of the current release",
            lambda: machine.path(COMMAND).is_symlink(),
            put_command,
        ),
    ]
