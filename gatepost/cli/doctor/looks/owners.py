"""Looks at whether a service's own user gets at what it needs: root, who looks, gets at everything.

What systemd hands on as a credential is root's, and is not asked for here.
"""

import grp
import os
import pwd
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gatepost.cli.doctor.look import Finding, Look, fine, wrong
from gatepost.cli.doctor.site import Site
from gatepost.config.settings import ServiceSettings, named, value_of

OWN = ("cert_file", "key_file", "ca_file", "crl_file", "backup_file", "folder")
RUN_BY = {"backup": "main_server", "retention": "main_server"}
"""The parts that have settings of their own but no user, each with the service as whose user its
unit runs."""
_READ, _ENTER = 4, 1


@dataclass(frozen=True, slots=True)
class User:
    name: str
    uid: int
    gids: frozenset[int]


def see_owners(site: Site) -> Iterator[Finding]:
    for part, settings in site.readable():
        if (user := find_user(f"gatepost-{RUN_BY.get(part.name, part.name)}")) is None:
            continue
        denied = [path for path in _own(settings) if not reaches(user, path)]
        yield from (judge(user, path) for path in denied)
        if not denied:
            yield fine(f"{user.name} reads what is its own")


def judge(user: User, path: Path) -> Finding:
    return wrong(f"{user.name} may not read {path}", f"chown -R {user.name}: {path}")


def find_user(name: str) -> User | None:
    """Return the user of that name; None where services run as somebody else, as in a checkout."""
    try:
        found = pwd.getpwnam(name)
    except KeyError:
        return None
    others = {group.gr_gid for group in grp.getgrall() if name in group.gr_mem}
    return User(name, found.pw_uid, frozenset({found.pw_gid, *others}))


def reaches(user: User, path: Path) -> bool:
    """Return whether the user gets at the path, by the modes of the file and of all folders above
    it. A path that isn't there isn't denied."""
    path = path.absolute()
    try:
        status = path.stat()
        wanted = _READ | _ENTER if stat.S_ISDIR(status.st_mode) else _READ
        above = all(_may(user, folder.stat(), _ENTER) for folder in path.parents)
        return above and _may(user, status, wanted)
    except OSError:
        return True


def _may(user: User, status: os.stat_result, wanted: int) -> bool:
    if user.uid == 0:
        return True
    shift = 6 if status.st_uid == user.uid else 3 if status.st_gid in user.gids else 0
    return stat.S_IMODE(status.st_mode) >> shift & wanted == wanted


def _own(settings: ServiceSettings) -> Iterator[Path]:
    for name in named(type(settings), Path):
        value = value_of(settings, name)
        if name.split(".")[-1] in OWN and isinstance(value, Path):
            yield value


LOOKS = (
    Look(
        name="owners",
        at="whether each service's user may read its certificates, keys and folders",
        why="what root has made for a service is root's, and the service doesn't start with it",
        mend="systemd-tmpfiles --create",
        see=see_owners,
    ),
)
