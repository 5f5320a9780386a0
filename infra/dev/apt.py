"""Unpacks packages of Debian and Ubuntu into a folder of ours: no root, nothing installed.

apt works on private lists and a private cache; the machine's own dpkg status is only read, so that
apt names exactly what this machine lacks, whatever the release calls it. The machine's hooks are
cleared: they would tidy the machine's own cache. Signatures are checked as apt always does.
"""

import fcntl
import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from infra.dev.paths import CACHE
from infra.dev.private import private_folder
from infra.dev.steps import Failure, run

CONFIGURATION = """\
Dir::State::lists "{folder}/lists";
Dir::Cache "{folder}/cache";
APT::Sandbox::User "";
Debug::NoLocking "true";
Acquire::Languages "none";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
"""
_PACKAGE_FILE = re.compile(r"^'[^']+' (?P<name>[^_\s]+)_\S+\.deb ", re.MULTILINE)


def available() -> bool:
    return bool(shutil.which("apt-get") and shutil.which("dpkg-deb"))


def unpack(packages: Sequence[str], folder: Path) -> None:
    """Put the packages, and what they need that is missing here, into `folder`: wholly or not."""
    work = private_folder(CACHE / "apt")
    with (work / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.exists():  # another command of ours has done it while we waited
            return
        apt = _prepare(work)
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.parent.chmod(0o755)  # MariaDB may run as somebody else
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".unpacking-") as name:
            for package in _download(apt, packages, Path(name)):
                run("unpacking", ["dpkg-deb", "-x", str(package), f"{name}/root"])
            (Path(name) / "root").rename(folder)


def download_whole(packages: Sequence[str], folder: Path) -> list[Path]:
    """Download the packages and all that they need, as for a machine that has nothing yet."""
    work = private_folder(CACHE / "apt")
    with (work / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        (work / "nothing").touch()
        apt = [*_prepare(work), "-o", f"Dir::State::status={work / 'nothing'}"]
        return _download(apt, packages, folder)


def needed(listing: str) -> list[str]:
    """Return the packages' names in what `apt-get install --print-uris` prints."""
    return [match["name"] for match in _PACKAGE_FILE.finditer(listing)]


def _prepare(work: Path) -> list[str]:
    """Return apt-get as a command that touches nothing but `work`."""
    private_folder(work / "lists" / "partial")
    private_folder(work / "cache" / "archives" / "partial")
    configuration = work / "apt.conf"
    configuration.write_text(CONFIGURATION.format(folder=work))
    return ["apt-get", "--config-file", str(configuration), "--quiet=2"]


def _download(apt: list[str], packages: Sequence[str], folder: Path) -> list[Path]:
    """Fetch what has to be unpacked.

    One source that doesn't answer makes all of `update` fail, though the others may do. So that is
    told only if the packages can't be had.
    """
    complaints = []
    try:
        run("reading the distribution's lists of packages", [*apt, "update"])
    except Failure as failure:
        complaints.append(str(failure))
    try:
        install = ["install", "--print-uris", "--reinstall", "--yes", "--no-install-recommends"]
        names = needed(run("finding packages", [*apt, *install, *packages]))
        if not names:
            raise Failure(f"apt has no file for {' '.join(packages)}.")
        run("downloading packages", [*apt, "download", *names], folder=folder)
    except Failure as failure:
        raise Failure("\n".join([*complaints, str(failure)])) from None
    return sorted(folder.glob("*.deb"))
