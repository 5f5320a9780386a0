"""Gives a file that root makes for a service to that service, as if it had made it itself.

The service could neither read a file of root's own nor, in some folders, replace it. Files are
given away by descriptor: in a folder of somebody else's a path leads wherever its owner wants.
"""

import os
import pwd
from pathlib import Path
from typing import NamedTuple


class Owner(NamedTuple):
    uid: int
    gid: int


def owner_of(place: Path) -> Owner | None:
    """Return the owner of a place; None unless we are root: what anybody else makes is their
    own."""
    if os.geteuid() != 0:
        return None
    status = place.stat()
    return Owner(status.st_uid, status.st_gid)


def owner_called(service: str) -> Owner | None:
    """Return the service's own user; None unless we are root, on a machine that has one."""
    if os.geteuid() != 0:
        return None
    try:
        user = pwd.getpwnam(f"gatepost-{service}")
    except KeyError:
        return None
    return Owner(user.pw_uid, user.pw_gid)


def give(descriptor: int, owner: Owner | None) -> None:
    if owner is not None:
        os.fchown(descriptor, *owner)
