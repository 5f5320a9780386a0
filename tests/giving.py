"""What root gives away: really, where tests are run by root; where they aren't, it is written down
whom a file would have been given to."""

import os
from pathlib import Path

import pytest

STRANGER = 54321


class Giving:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._real = os.geteuid() == 0
        self._given: dict[int, int] = {}
        if not self._real:
            monkeypatch.setattr(os, "geteuid", lambda: 0)
            monkeypatch.setattr(os, "fchown", self._note)

    def folder(self, folder: Path) -> int:
        """A folder of a service's, that isn't root; its owner."""
        folder.mkdir(exist_ok=True)
        if self._real:
            os.chown(folder, STRANGER, STRANGER)
        return folder.stat().st_uid

    def owner(self, file: Path) -> int | None:
        status = file.stat()
        return status.st_uid if self._real else self._given.get(status.st_ino)

    def _note(self, descriptor: int, uid: int, _gid: int) -> None:
        self._given[os.fstat(descriptor).st_ino] = uid
