"""Makes a Debian in a folder, out of its packages as the machine's own apt gets them: what
debootstrap does, without anything to install first. Needs root; made once, and kept below var/.
"""

import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from infra.dev import apt
from infra.dev.engines.find import clean_environment
from infra.dev.paths import ENGINES
from infra.dev.steps import run

FOLDER = ENGINES / "debian"
# What every Debian has, and then what docs/install.md has its reader install.
BASE = """
    base-files base-passwd bash coreutils dash debianutils diffutils dpkg findutils grep gzip
    hostname init-system-helpers libc-bin login mawk passwd perl-base sed sysvinit-utils tar
    util-linux procps adduser debconf libpam-runtime systemd systemd-sysv dbus ca-certificates
    iproute2
"""
ASKED_FOR = ("python3", "python3-venv", "mariadb-server", "mariadb-client", "redis-server", "curl")
_LATE = ("mariadb-server_", "redis-server_")
"""Their scripts want a system that is there already."""
_CONFIGURE = """
set -e
export DEBIAN_FRONTEND=noninteractive LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
cd /packages
put() { dpkg --force-unsafe-io --force-depends "$@"; }
put --install base-passwd_*.deb
put --install base-files_*.deb
put --install libc6_*.deb dpkg_*.deb perl-base_*.deb mawk_*.deb debconf_*.deb
put --unpack *.deb
put --force-configure-any --configure --pending
dpkg --force-unsafe-io --install late/*.deb
"""


def debian(say: Callable[[str], None], packages: Sequence[str] = ASKED_FOR) -> Path:
    """The root folder; nobody may change it, for others use it as well."""
    if not FOLDER.exists():
        say("making a Debian, which takes two minutes and is kept")
        FOLDER.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=FOLDER.parent, prefix=".debian-") as name:
            root = Path(name) / "root"
            _make(root, [*BASE.split(), *packages])
            root.rename(FOLDER)
    return FOLDER


def _make(root: Path, packages: Sequence[str]) -> None:
    late = root / "packages" / "late"
    late.mkdir(mode=0o755, parents=True)
    root.chmod(0o755)
    for package in apt.download_whole(packages, root / "packages"):
        run("unpacking", ["dpkg-deb", "-x", str(package), str(root)])
        if package.name.startswith(_LATE):
            package.rename(late / package.name)
    for folder in ("info", "updates", "triggers"):
        (root / "var" / "lib" / "dpkg" / folder).mkdir(parents=True, exist_ok=True)
    (root / "var/lib/dpkg/status").touch()
    (root / "usr/bin/awk").symlink_to("mawk")
    (root / "configure").write_text(_CONFIGURE)
    _forbid_starting(root)
    alone = ["unshare", "--mount", "--pid", "--fork", "chroot", str(root), "sh", "/configure"]
    run("configuring packages", alone, environment=clean_environment())
    shutil.rmtree(root / "packages")
    (root / "usr/sbin/policy-rc.d").unlink()


def _forbid_starting(root: Path) -> None:
    """No service of a package is started while it is installed."""
    program = root / "usr" / "sbin" / "policy-rc.d"
    program.write_text("#!/bin/sh\nexit 101\n")
    program.chmod(0o755)
    for name, minor in (("null", "3"), ("urandom", "9")):
        run("making a device", ["mknod", "-m", "666", str(root / "dev" / name), "c", "1", minor])
