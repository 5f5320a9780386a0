"""The machine that is installed on: the folder `root`, and how programs are run in it.

Another root folder than `/` is entered by chroot. There is no systemd in it to talk to then, so
that services are enabled there, but neither started nor stopped.
"""

import errno
import os
import secrets
import shutil
import stat
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from gatepost.install.steps import Failure

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
PASSED_ON = ("PIP_", "SSL_CERT_", "REQUESTS_CA_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
"""The beginnings of the names of variables that pip may need to reach its packages."""
LAST_WORDS = 12
_AS_IT_IS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
_FOLDER = os.O_RDONLY | os.O_DIRECTORY


class Machine:
    def __init__(self, root: Path = Path("/")) -> None:
        self.root = root.resolve()
        self.live = self.root == Path("/") and Path("/run/systemd/system").is_dir()

    def path(self, inside: str | Path) -> Path:
        """Return where a file of that machine is for us."""
        return self.root / str(inside).lstrip("/")

    def run(
        self,
        *command: str | Path,
        text: str | None = None,
        user: str | None = None,
        extra: Mapping[str, str] | None = None,
    ) -> str:
        """Run a program, with `text` as its input, and return what it prints; raise Failure with
        its last words if it fails."""
        done = self.call(*command, text=text, user=user, extra=extra)
        if done.returncode != 0:
            said = "\n".join((done.stderr.strip() or done.stdout).splitlines()[-LAST_WORDS:])
            raise Failure(f"{' '.join(map(str, command))}\n  ended with {done.returncode}: {said}")
        return done.stdout

    def call(
        self,
        *command: str | Path,
        text: str | None = None,
        user: str | None = None,
        extra: Mapping[str, str] | None = None,
    ) -> "subprocess.CompletedProcess[str]":
        """Run a program and return the result, whatever comes of it."""
        whole = [*self._enter(user), *map(str, command)]
        given = {n: v for n, v in os.environ.items() if n.upper().startswith(PASSED_ON)}
        environment = {"PATH": PATH, "LC_ALL": "C.UTF-8", "HOME": "/root", **given, **(extra or {})}
        return subprocess.run(
            whole,
            input=text or "",
            env=environment,
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
        )

    def _enter(self, user: str | None) -> list[str]:
        if self.root == Path("/") and user is None:
            return []
        return ["chroot", *([f"--userspec={user}:{user}"] if user else []), str(self.root)]

    @contextmanager
    def credentials(self, service: str, user: str) -> Iterator[str]:
        """Yield a folder of the service's credentials as systemd hands them on: copies for its
        user, for a moment."""
        folder = f"/run/gatepost-install-{secrets.token_hex(8)}"
        place = self.path(folder)
        place.mkdir(mode=0o700)
        try:
            for file in sorted(self.path(f"/etc/gatepost/{service}/credentials").iterdir()):
                self.write(place / file.name, file.read_bytes(), 0o400, user)
            with self.opened(place) as descriptor:
                self.give(descriptor, user)
            yield folder
        finally:
            shutil.rmtree(place)

    def write(
        self, file: Path, content: bytes, mode: int, user: str = "root", group: str | None = None
    ) -> None:
        """Write the file whole, or leave it as it was; meanwhile nobody reads it who must not."""
        draft = f".{file.name}.{secrets.token_hex(4)}"
        with self.opened(file.parent) as folder:
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=folder)
            try:
                with os.fdopen(descriptor, "wb") as stream:
                    stream.write(content)
                    self.give(descriptor, user, group)
                    os.fchmod(descriptor, mode)
                    stream.flush()
                    os.fsync(descriptor)
                os.rename(draft, file.name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(FileNotFoundError):
                    os.unlink(draft, dir_fd=folder)
                raise

    def read_of(self, file: Path, user: str) -> bytes:
        """Return the content of a file that this user has made; refuse anything else that the user
        may have put in its place."""
        with self.opened(file.parent) as folder:
            descriptor = os.open(file.name, _AS_IT_IS, dir_fd=folder)
            with os.fdopen(descriptor, "rb") as stream:
                status = os.fstat(descriptor)
                if not stat.S_ISREG(status.st_mode) or status.st_uid != self.id_of("passwd", user):
                    raise Failure(f"{file} is no file of {user}'s.")
                return stream.read()

    @contextmanager
    def opened(self, folder: Path) -> Iterator[int]:
        """Yield the folder's descriptor. Root's own links are followed, such as one from
        /var/lib/gatepost to another disk; links in somebody else's folder are not, or a service
        would say where root writes."""
        descriptor = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for name in folder.relative_to(self.root).parts:
                below = _enter(descriptor, name, folder)
                os.close(descriptor)
                descriptor = below
            yield descriptor
        finally:
            os.close(descriptor)

    def give(self, descriptor: int, user: str, group: str | None = None) -> None:
        os.fchown(descriptor, self.id_of("passwd", user), self.id_of("group", group or user))

    def id_of(self, kind: str, name: str) -> int:
        """Return the number that a user (`passwd`) or a group has on that machine."""
        found = self.ids(kind).get(name)
        if found is None:
            raise Failure(f"There is no {name} in {self.path(f'/etc/{kind}')}.")
        return found

    def ids(self, kind: str) -> dict[str, int]:
        try:
            lines = self.path(f"/etc/{kind}").read_text().splitlines()
        except FileNotFoundError:
            return {}
        rows = [line.split(":") for line in lines]
        return {row[0]: int(row[2]) for row in rows if len(row) > 2}


def _enter(folder: int, name: str, way: Path) -> int:
    try:
        return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENOTDIR):
            raise
    if os.fstat(folder).st_uid != 0:
        raise Failure(f"{way}: {name} is a link in a folder that isn't root's, or no folder.")
    return os.open(name, _FOLDER, dir_fd=folder)


def has(file: Path, content: bytes) -> bool:
    """Return whether the file is there with just this content."""
    return file.is_file() and file.read_bytes() == content


def point(link: Path, target: str) -> None:
    """Make the link point to the target, from one moment to the next."""
    draft = link.with_name(f".{link.name}.{secrets.token_hex(4)}")
    draft.symlink_to(target)
    draft.replace(link)
