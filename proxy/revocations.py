"""The lists of revoked certificates as they were last learned, kept beside the bundle.

With them a proxy that starts while the main servers are down knows more than a Redis that went back
in time. By themselves they confirm nothing.
"""

import asyncio
from pathlib import Path

import msgspec

from gatepost.errors import ConfigurationError
from gatepost.logs import Log
from gatepost.loops import pause
from gatepost.trust.revocation import Revocations, decode_revocations, encode_revocations
from gatepost.trust.revoked import NotBelieved, Revoked
from gatepost.whole_file import replace_file

WRITE_SECONDS = 0.25


def kept_in(folder: Path) -> Path:
    return folder / "revocations.msgpack"


class RevocationsCache:
    def __init__(self, folder: Path, log: Log) -> None:
        self._file = kept_in(folder)
        self._log = log
        self._latest: Revocations | None = None

    def load(self, view: Revoked) -> None:
        """Load the kept lists. Lists that can't be read, or be believed any more, count as none."""
        try:
            view.learn(decode_revocations(self._file.read_bytes()))
        except (OSError, msgspec.MsgspecError, NotBelieved):
            return

    def keep(self, state: Revocations) -> None:
        """Keep the lists for the loop to write: a disk may take its time, and requests must not
        wait for it."""
        self._latest = state

    async def loop(self, stop: asyncio.Event) -> None:
        written: Revocations | None = None
        while not stop.is_set():
            latest = self._latest
            if latest is not None and latest is not written:
                await asyncio.to_thread(self._write, latest)
                written = latest
            await pause(stop, WRITE_SECONDS)

    def _write(self, state: Revocations) -> None:
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            replace_file(self._file, encode_revocations(state))
        except (OSError, ConfigurationError) as error:
            self._log.warning("revocations.not_kept", reason=str(error))
