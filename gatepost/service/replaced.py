"""Watches what is replaced while a process runs: files (certificates, their keys, the CA file), and
the CAs that a port trusts beside ours.

They are looked at once a second. What can't be used, as when half of a pair is written, leaves all
as it was and is tried again; the log says so once.
"""

import asyncio
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

from gatepost.clock import Clock
from gatepost.errors import ConfigurationError
from gatepost.logs import Log
from gatepost.loops import pause
from gatepost.service.live import Live
from gatepost.trust.revoked import Revoked, open_view
from gatepost.trust.tls import Port, TlsFiles, browser_context, read_trusted, server_context

LOOK_SECONDS = 1.0

_Stamp: TypeAlias = list[tuple[int, int] | None]


@dataclass(slots=True)
class _Watched:
    names: Sequence[str]
    stamp: Callable[[], object]
    take_up: Callable[[], None]
    seen: object
    tried: object


class Replaced:
    def __init__(self, log: Log) -> None:
        self._log = log
        self._watched: list[_Watched] = []

    def watch(self, files: Sequence[Path], take_up: Callable[[], None]) -> None:
        """Call `take_up` whenever one of these files is another; it may raise
        ConfigurationError."""
        self._watch([str(file) for file in files], partial(_stamp, files), take_up)

    def _watch(
        self, names: Sequence[str], stamp: Callable[[], object], take_up: Callable[[], None]
    ) -> None:
        seen = stamp()
        self._watched.append(_Watched(names, stamp, take_up, seen, seen))

    def open_view(self, ca_file: Path, clock: Clock) -> Revoked:
        """Return a view of what is revoked that trusts whom this file pins, later as well."""
        view = open_view(ca_file, clock)
        self.watch([ca_file], lambda: view.trust(read_trusted(ca_file)))
        return view

    def open_port(
        self, files: TlsFiles, live: Live, anchors: Callable[[], list[bytes]] = list
    ) -> Port:
        """Return TLS for a port that others call; it shows what these files hold, and trusts these
        CAs beside ours (DER), later as well."""
        refused = live.turned_away.handshake
        port = self._show(lambda: server_context(files, refused, anchors()), files, live)
        self._watch(["trust anchors"], anchors, port.renew)
        return port

    def open_browser_port(self, files: TlsFiles, live: Live) -> Port:
        """Return TLS as open_port does, for callers who have no certificate."""
        return self._show(lambda: browser_context(files, live.turned_away.handshake), files, live)

    def _show(self, make: Callable[[], ssl.SSLContext], files: TlsFiles, live: Live) -> Port:
        port = live.port = Port(make)

        def renew() -> None:
            port.renew()
            live.renew()

        self.watch(files.all, renew)
        return port

    async def loop(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            self.look()
            await pause(stop, LOOK_SECONDS)

    def look(self) -> None:
        for one in self._watched:
            self._look(one)

    def _look(self, one: _Watched) -> None:
        now = one.stamp()
        if now == one.seen:
            return
        problem = None
        try:
            one.take_up()
            one.seen = now
        except ConfigurationError as error:
            problem = error.detail
        if problem is None or now != one.tried:
            (self._log.warning if problem else self._log.info)(
                "files.replaced", files=one.names, problem=problem
            )
        one.tried = now


def _stamp(files: Sequence[Path]) -> _Stamp:
    """Return a stamp of these files: another one when one of them has been written since."""
    return [_of(file) for file in files]


def _of(file: Path) -> tuple[int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino
