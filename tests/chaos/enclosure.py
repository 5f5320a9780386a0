"""Where a run happens: in namespaces of its own where root allows it, else on our loopback.

Network, mounts and processes of a run are then nobody else's: two runs can't meet, and whatever a
run leaves behind (processes, mounts, loop devices, firewall rules) the kernel takes away.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

_INSIDE = "GATEPOST_CHAOS_ENCLOSED"
_UNSHARE = ["unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"]
_TOOLS = ("unshare", "nsenter", "ip", "mount", "umount", "mkfs.ext4")


def enclosed() -> bool:
    """Whether we are in namespaces of our own."""
    return _INSIDE in os.environ


def enclose(module: str, arguments: Sequence[str]) -> None:
    """Goes on as the same program in namespaces of its own; returns where that can't be had."""
    if enclosed() or not _possible():
        return
    sys.stdout.flush()
    command = [*_UNSHARE, sys.executable, "-m", module, *arguments]
    os.execvpe(command[0], command, {**os.environ, _INSIDE: "yes"})


def why_not() -> str:
    """For the report: what a run outside of an enclosure lacks."""
    if os.geteuid() != 0:
        return "not root: no network namespaces, no power cuts, no full disks"
    if _possible():
        return "as was asked for: no network namespaces, no power cuts, no full disks"
    return f"not all of {', '.join(_TOOLS)} are here, or the kernel allows no namespaces"


def _possible() -> bool:
    if os.geteuid() != 0 or not all(shutil.which(tool) for tool in _TOOLS):
        return False
    return subprocess.run([*_UNSHARE, "true"], check=False, capture_output=True).returncode == 0
