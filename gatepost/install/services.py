"""Tells systemd which units there are, which of them are enabled, and in which order they restart.

Without a systemd to talk to (another root folder) units are put there and enabled, and that is all.
A service runs what is installed if it was started after the last change of what it is made of.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from gatepost.install.configuration import REDIS_CONF, USERS_ACL
from gatepost.install.machine import Machine, has
from gatepost.install.placing import CURRENT, RELEASES, place, version_at
from gatepost.install.shipped import Release
from gatepost.install.steps import Failure, Step

UNITS = "/etc/systemd/system"
TARGET = "gatepost.target"
MAIN_SERVER = "gatepost-main-server.service"
FIRST = (
    "gatepost-redis.service",
    MAIN_SERVER,
    "gatepost-worker@1.service",
    "gatepost-proxy@1.service",
    "gatepost-portal.service",
    "gatepost-backup.timer",
    *(
        f"gatepost-certificates@{name}.timer"
        for name in ("main_server", "proxy", "worker", "portal")
    ),
)
"""The units that are enabled when a machine is new. Later it is the operator's choice."""
WITH_ANALYTICS = ("gatepost-nightly.timer", "gatepost-retention.timer")
ORDER = (
    "gatepost-redis",
    "gatepost-main-server",
    "gatepost-worker",
    "gatepost-proxy",
    "gatepost-portal",
)
STAY = ("redis", "main-server", "worker@", "proxy@", "portal")
BACK_OFF_SINCE = 254
NAMES = "units.txt"
"""The file in a release that lists which files of units are its own."""


def units(machine: Machine, release: Release) -> Step:
    wanted = _wanted(machine, release)
    folder = machine.path(UNITS)
    names, named = machine.path(place(release)) / NAMES, "\n".join(sorted(wanted)).encode()

    def put() -> None:
        machine.write(names, named, 0o644)
        for name in ours(machine) - wanted.keys():
            (folder / name).unlink()
        for name, content in wanted.items():
            (folder / name).parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            if not has(folder / name, content):
                machine.write(folder / name, content, 0o644)
        reload(machine)

    return Step(
        f"{len(wanted)} files of units in {UNITS}",
        lambda: (
            has(names, named)
            and ours(machine) == wanted.keys()
            and all(has(folder / name, content) for name, content in wanted.items())
        ),
        put,
    )


def ours(machine: Machine) -> set[str]:
    """Return the unit files that any release here has put into systemd's folder, by their path
    there. Units and drop-ins that an operator has put beside them are not among them."""
    lists = machine.path(RELEASES).glob(f"*/{NAMES}")
    names = {name for one in lists for name in one.read_text().splitlines()}
    return {name for name in names if (machine.path(UNITS) / name).exists()}


def reload(machine: Machine) -> None:
    if machine.live:
        machine.run("systemctl", "daemon-reload")


def enable(machine: Machine, *, analytics: bool) -> list[Step]:
    """Return the steps that enable units: once, and again for those that come with Spark, or with a
    release. They come before the release is made the current one: were an upgrade broken off after
    that, the next run would not know any more what has come."""
    steps = [_enabled(machine, (TARGET, *FIRST), lambda: TARGET in enabled(machine))]
    if come := came(machine):
        steps.append(_enabled(machine, come, lambda: set(come) <= enabled(machine)))
    if analytics:
        steps.append(
            _enabled(machine, WITH_ANALYTICS, lambda: set(WITH_ANALYTICS) <= enabled(machine))
        )
    return steps


def came(machine: Machine) -> tuple[str, ...]:
    """Return the units that new machines enable and that the running release doesn't have."""
    current = version_at(machine, CURRENT)
    had = machine.path(f"{RELEASES}/{current}/{NAMES}")
    if current is None or not had.is_file():
        return ()
    known = set(had.read_text().splitlines())
    return tuple(name for name in FIRST if _file_of(name) not in known)


def _file_of(name: str) -> str:
    """Return the unit's file; for an instance, that of its template."""
    before, at, rest = name.partition("@")
    return f"{before}@.{rest.rpartition('.')[2]}" if at else name


def _enabled(machine: Machine, names: tuple[str, ...], is_done: Callable[[], bool]) -> Step:
    def do() -> None:
        machine.run("systemctl", "enable", *reversed(names))  # the target last: it is the mark

    words = ", ".join(name.removesuffix(".service") for name in names)
    return Step(f"enabled: {words}", is_done, do)


def enabled(machine: Machine) -> set[str]:
    """Return the enabled units, by their links, which lead nowhere when seen from outside of
    another root folder."""
    folder = machine.path(UNITS)
    return {link.name for link in folder.glob("*.wants/gatepost*") if _is_chosen(link)}


def _is_chosen(link: Path) -> bool:
    return link.name == TARGET or link.parent.name == f"{TARGET}.wants"


def stop_main_server(machine: Machine, is_needed: Callable[[], bool]) -> Step:
    """Return the step that stops the main server before the tables change: proxies go on accepting,
    into Redis."""
    return Step(
        f"{MAIN_SERVER} stands still, if the tables change",
        lambda: not is_needed() or not _is_active(machine, MAIN_SERVER),
        lambda: machine.run("systemctl", "stop", MAIN_SERVER),
    )


def restarts(machine: Machine) -> Iterator[Step]:
    """Yield the steps that restart the services one after the other, each ready before the next
    one: the main server before its callers."""
    if not machine.live:
        return
    running = {*enabled(machine), *came(machine)} or set(FIRST)
    staying = [name for name in running if name.endswith(".service")]
    for name in sorted(staying, key=_rank):
        yield _restarted(machine, name)
    yield Step(
        f"{TARGET} is active, with its timers",
        lambda: not _idle(machine),
        lambda: machine.run("systemctl", "start", *_idle(machine)),
    )


def _idle(machine: Machine) -> list[str]:
    wanted = [TARGET, *sorted(name for name in enabled(machine) if name.endswith(".timer"))]
    return [name for name in wanted if not _is_active(machine, name)]


def stands_still(machine: Machine) -> bool:
    """Return whether the main server stands still, though it should run."""
    return machine.live and MAIN_SERVER in enabled(machine) and not _is_active(machine, MAIN_SERVER)


def _rank(name: str) -> tuple[int, str]:
    number = next((n for n, one in enumerate(ORDER) if name.startswith(one)), len(ORDER))
    return number, name


def _restarted(machine: Machine, name: str) -> Step:
    def restart() -> None:
        reload(machine)
        try:
            machine.run("systemctl", "restart", name)
        except Failure as failure:
            raise Failure(
                f"{failure}\n  Look: journalctl -u {name} -n 50"
                "\n  If it is the new release that can't: gatepost install --back"
            ) from None

    return Step(
        f"{name} runs what is installed, and is ready",
        lambda: _is_active(machine, name) and _started(machine, name) > _changed_at(machine, name),
        restart,
    )


def _is_active(machine: Machine, name: str) -> bool:
    return machine.live and machine.call("systemctl", "is-active", "--quiet", name).returncode == 0


def _started(machine: Machine, name: str) -> float:
    """Return when the unit's main process was started, by the wall clock."""
    asked = ("systemctl", "show", "--value", "--property=ExecMainStartTimestampMonotonic", name)
    said = machine.run(*asked).strip()
    return int(said or 0) / 1e6 + time.time() - time.monotonic()


def _changed_at(machine: Machine, name: str) -> float:
    """Return when the unit last changed: its own files, and Redis's settings or the release."""
    template = _file_of(name)
    folder = machine.path(UNITS)
    files = [
        folder / template,
        *folder.glob("gatepost-.service.d/*"),
        *folder.glob(f"{template}.d/*"),
    ]
    redis = name.startswith("gatepost-redis")
    files += [machine.path(one) for one in ((USERS_ACL, REDIS_CONF) if redis else (CURRENT,))]
    return max((file.lstat().st_mtime for file in files if _is_there(file)), default=0.0)


def _is_there(file: Path) -> bool:
    return file.is_symlink() or file.exists()


def _wanted(machine: Machine, release: Release) -> dict[str, bytes]:
    wanted = dict(release.units)
    if version(machine) >= BACK_OFF_SINCE:
        backoff = release.read("systemd/backoff.conf")
        staying = [n for n in release.units if n.startswith(tuple(f"gatepost-{s}" for s in STAY))]
        for name in staying:
            if name.endswith(".service"):
                wanted[f"{name}.d/30-backoff.conf"] = backoff
    return wanted


def version(machine: Machine) -> int:
    """Return systemd's version, 0 if there is none."""
    try:
        said = machine.call("systemctl", "--version").stdout.split()
    except OSError:
        return 0
    return int(said[1]) if len(said) > 1 and said[1].isdigit() else 0


def remove(machine: Machine) -> list[Step]:
    """Return the steps that stop and disable the units and take their files away."""
    return [
        Step(
            "services and timers are stopped", lambda: not _running(machine), lambda: _stop(machine)
        ),
        Step(
            "nothing of it is enabled",
            lambda: not enabled(machine),
            lambda: machine.run("systemctl", "disable", *sorted(enabled(machine))),
        ),
        Step(
            f"its units are gone from {UNITS}",
            lambda: not ours(machine),
            lambda: _take_away(machine),
        ),
    ]


def _running(machine: Machine) -> list[str]:
    if not machine.live:
        return []
    asked = ("systemctl", "list-units", "--plain", "--no-legend", "--state=active,activating")
    said = machine.run(*asked, "gatepost*").splitlines()
    return [line.split()[0] for line in said if line.split()]


def _stop(machine: Machine) -> None:
    """Stop the timers first, so that none starts what has been stopped."""
    names = _running(machine)
    for last in (False, True):
        if some := [name for name in names if name.endswith(".timer") != last]:
            machine.run("systemctl", "stop", *some)


def _take_away(machine: Machine) -> None:
    folder = machine.path(UNITS)
    for name in ours(machine):
        (folder / name).unlink()
    for emptied in folder.glob("gatepost*.d"):
        if not any(emptied.iterdir()):
            emptied.rmdir()
    reload(machine)
