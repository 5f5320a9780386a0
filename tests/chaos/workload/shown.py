"""The certificate that a client shows: whatever is in its files when it connects."""

import ssl
from contextlib import suppress
from pathlib import Path


class Shown:
    def __init__(self, ca: str, cert: str, key: str) -> None:
        self._ca, self._cert, self._key = ca, Path(cert), Path(key)
        self._of: list[int] = []
        self._load()

    def context(self) -> ssl.SSLContext:
        """A pair that is being replaced is read again with the next connection."""
        if self._times() != self._of:
            with suppress(OSError):  # also of ssl: key and certificate don't fit
                self._load()
        return self._context

    def _load(self) -> None:
        times = self._times()
        context = ssl.create_default_context(cafile=self._ca)
        context.load_cert_chain(self._cert, self._key)
        self._context, self._of = context, times

    def _times(self) -> list[int]:
        return [file.stat().st_mtime_ns for file in (self._cert, self._key)]
