"""A program: what a power cut and a full disk leave on the disk of a run. In a mount namespace."""

import errno
import os
import sys
from pathlib import Path

from tests.chaos.disk import Disk


def main(folder: Path) -> None:
    disk = Disk(folder / "disk.img", folder / "disk")
    disk.make()
    kept, lost = disk.folder / "kept", disk.folder / "lost"
    write(kept, b"synced", sync=True)
    write(lost, b"never synced", sync=False)
    disk.cut_power()
    assert error_of_writing(disk.folder / "later") == errno.EIO
    disk.power_up()
    assert kept.read_bytes() == b"synced"
    assert not lost.exists() or lost.read_bytes() == b""
    disk.fill(None)
    status = os.statvfs(disk.folder)
    assert status.f_bavail == 0, status
    sync(disk.folder / "ballast")  # as the kernel does it by itself within seconds
    disk.empty()
    disk.cut_power()
    disk.power_up()
    assert os.statvfs(disk.folder).f_bavail > 0, "it is full again"
    write(disk.folder / "room", bytes(10_000_000), sync=True)


def error_of_writing(file: Path) -> int | None:
    try:
        write(file, b"", sync=True)
    except OSError as error:
        return error.errno
    return None


def sync(file: Path) -> None:
    with file.open("rb") as stream:
        os.fsync(stream.fileno())


def write(file: Path, data: bytes, *, sync: bool) -> None:
    with file.open("wb") as stream:
        stream.write(data)
        stream.flush()
        if sync:
            os.fsync(stream.fileno())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
