"""Looks at the machine: its clock, and its disks."""

import os
from collections.abc import Iterator
from pathlib import Path

from gatepost.cli.doctor.look import Finding, Look, fine, unknown, warning, wrong
from gatepost.cli.doctor.site import Site
from gatepost.config.settings import ServiceSettings, leaves, named, value_of
from gatepost.room import existing

FULL, ALMOST_FULL = 0.95, 0.80
_FILE = "file://"


def see_clock(site: Site) -> Iterator[Finding]:
    """Look at whether NTP keeps the clock; other looks compare it with Redis's and the ledger's."""
    if site.systemd is None:
        return
    kept = site.systemd.time_is_kept()
    if kept is None:
        yield unknown("nobody says whether this machine's clock is kept by NTP", "chronyc tracking")
    elif kept:
        yield fine("this machine's clock is kept by NTP")
    else:
        yield warning("nothing keeps this machine's clock", "timedatectl set-ntp true")


def see_disks(site: Site) -> Iterator[Finding]:
    places = {place for _, settings in site.readable() for place in _places(settings)}
    yield from judge_disks({existing(place) for place in places})


def judge_disks(folders: set[Path]) -> Iterator[Finding]:
    """Judge each disk once, by the first of the folders on it."""
    disks: dict[int, Path] = {}
    for folder in sorted(folders):
        disks.setdefault(folder.stat().st_dev, folder)
    for folder in disks.values():
        disk = os.statvfs(folder)
        free = {"room": (disk.f_bavail, disk.f_blocks), "files": (disk.f_favail, disk.f_files)}
        used = {what: 1 - left / whole for what, (left, whole) in free.items() if whole}
        yield judge_disk(folder, used)


def judge_disk(folder: Path, used: dict[str, float]) -> Finding:
    """Judge a disk by what is scarcest on it. What is kept for root counts as used."""
    what, share = max(used.items(), key=lambda one: one[1], default=("room", 0.0))
    words = f"of {folder} {share:.0%} is used" + (" (of its files)" if what == "files" else "")
    show = f"du -xh --max-depth=2 {folder}"
    if share >= FULL:
        return wrong(words, show)
    return warning(words, show) if share >= ALMOST_FULL else fine(words)


def _places(settings: ServiceSettings) -> Iterator[Path]:
    """Yield every file and folder that the settings name."""
    paths = set(named(type(settings), Path))
    for name, _ in leaves(type(settings)):
        value = value_of(settings, name)
        if isinstance(value, str) and value.startswith(_FILE):
            yield Path(value.removeprefix(_FILE))
        elif name in paths and isinstance(value, Path):
            yield value


LOOKS = (
    Look(
        name="clock",
        at="whether something keeps this machine's clock right",
        why="a message's time decides its day's key and partition; certificates have times, too",
        mend="timedatectl set-ntp true",
        see=see_clock,
    ),
    Look(
        name="disks",
        at="room, and room for files, on each disk that the settings name a place on",
        why="on a full disk nothing is accepted, and nothing is renewed",
        mend="df -h",
        see=see_disks,
    ),
)
