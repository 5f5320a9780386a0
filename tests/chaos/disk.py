"""One ext4 file system for the data of both stores, in an image of its own: so that the power fails
for both at one instant, and the disk can be full.

The power fails by ext4's own shutdown, "no log flush" (what xfstests does): from that instant on
not a byte reaches the device; whatever no fsync has brought there is gone with the page cache. That
is one instant, which a copy of the image made beside a running kernel would not be.
"""

import fcntl
import os
import struct
import time
from dataclasses import dataclass
from pathlib import Path

from infra.dev.steps import Failure, run

SIZE = "3G"
RESERVED_PERCENT = 5
"""Blocks that only one user may have, when all others are used: whom a full disk spares."""

_SHUTDOWN = 0x8004587D  # EXT4_IOC_SHUTDOWN
_NO_LOG_FLUSH = struct.pack("I", 2)
_UNMOUNT_SECONDS = 10.0
_NOBODY_HAS_IT = 0xFFFE
"""No process of ours runs as this user: a disk that spares it spares none of them."""


@dataclass(frozen=True)
class Disk:
    image: Path
    folder: Path

    def make(self) -> None:
        self.folder.mkdir()
        with self.image.open("wb"):
            run("image", ["truncate", "-s", SIZE, str(self.image)])
        options = ["-q", "-F", "-m", str(RESERVED_PERCENT), "-E", "lazy_itable_init=1"]
        run("making a file system", ["mkfs.ext4", *options, str(self.image)])
        self._mount()
        self.folder.chmod(0o711)

    def cut_power(self) -> None:
        """From here on nothing reaches the device. Who writes is best stopped already."""
        descriptor = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, _SHUTDOWN, _NO_LOG_FLUSH)
        finally:
            os.close(descriptor)

    def power_up(self) -> None:
        """With what was on the device; all that used the old one are dead. Repeatable."""
        if self.folder.is_mount():
            self.unmount()
        self._mount()

    def fill(self, spared: int | None) -> None:
        """Until nobody finds a block but this user."""
        owner = _NOBODY_HAS_IT if spared is None else spared
        self._remount(f"resuid={owner}")
        descriptor = os.open(self._ballast, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            self._inflate(descriptor)
        finally:
            os.close(descriptor)

    def empty(self) -> None:
        """For good: a power cut must not bring back what fills the disk."""
        self._ballast.unlink(missing_ok=True)
        descriptor = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    @property
    def _ballast(self) -> Path:
        return self.folder / "ballast"

    def _inflate(self, descriptor: int) -> None:
        size = 0
        while (left := self._available()) > 0:
            try:
                os.posix_fallocate(descriptor, size, left)
            except OSError:
                return
            size += left

    def _available(self) -> int:
        """Bytes that are left for those who aren't spared."""
        status = os.statvfs(self.folder)
        return status.f_bavail * status.f_frsize

    def _mount(self) -> None:
        run("mounting", ["mount", "-o", "loop", str(self.image), str(self.folder)])

    def _remount(self, options: str) -> None:
        run("mounting anew", ["mount", "-o", f"remount,{options}", str(self.folder)])

    def unmount(self) -> None:
        deadline = time.monotonic() + _UNMOUNT_SECONDS
        while True:
            try:
                run("unmounting", ["umount", str(self.folder)])
                return
            except Failure:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
