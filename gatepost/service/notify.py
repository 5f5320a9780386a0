"""Tells the service manager how we are, by systemd's sd_notify(3). Where there is none, does
nothing.

READY=1 comes when the service is ready for the first time, and not before; keep-alives come as long
as the loops turn, of the supervisor and of all its children. A manager that doesn't listen holds
nobody up.
"""

import asyncio
import os
import socket
import time
from collections.abc import Callable, MutableMapping
from contextlib import suppress
from typing import Any

from gatepost.loops import pause

LOOK_SECONDS = 1.0
KEEP_ALIVES = 4
"""Keep-alives within the time after which the manager gives us up: three may be lost."""


class Manager:
    def __init__(self, address: str | None, watchdog_seconds: float | None = None) -> None:
        self.watched = watchdog_seconds is not None
        self.every_seconds = min(LOOK_SECONDS, (watchdog_seconds or LOOK_SECONDS) / KEEP_ALIVES)
        self.note = ""
        self._status = ""
        self._address = address and address.replace("@", "\0", 1)

    @classmethod
    def of(cls, environment: MutableMapping[str, str]) -> "Manager":
        """Return the manager that has started us. Its variables are taken away: children must not
        use them."""
        address = environment.pop("NOTIFY_SOCKET", None)
        pid = environment.pop("WATCHDOG_PID", str(os.getpid()))
        usec = environment.pop("WATCHDOG_USEC", "")
        watched = usec.isdigit() and pid == str(os.getpid())
        return cls(address, int(usec) / 1e6 if watched else None)

    def ready(self) -> None:
        self._tell("READY=1")

    def reloading(self) -> None:
        self._tell(f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def stopping(self) -> None:
        self._tell("STOPPING=1")

    def alive(self) -> None:
        if self.watched:
            self._tell("WATCHDOG=1")

    def say(self, status: str) -> None:
        """Tell what `systemctl status` shows, with our note; only if it is another than before."""
        status = f"{status}; {self.note}" if self.note else status
        if status != self._status:
            self._status = status
            self._tell(f"STATUS={status}")

    def _tell(self, state: str) -> None:
        if self._address is None:
            return
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock, suppress(OSError):
            sock.setblocking(False)  # who is not there, or does not keep up, holds nobody up
            sock.sendto(state.encode(), self._address)


Readiness = Callable[[], tuple[bool, dict[str, Any]]]


async def manager_loop(
    stop: asyncio.Event,
    ended: asyncio.Event,
    manager: Manager,
    readiness: Readiness,
    turning: Callable[[], bool],
) -> None:
    """Tell the manager how we are until all has ended: a watchdog may watch over the stopping as
    well."""
    was_ready = False
    while not ended.is_set():
        ready, checks = readiness()
        if turning():
            manager.alive()
        if stop.is_set():
            manager.stopping()
            manager.say("stopping")
        else:
            if ready and not was_ready:
                manager.ready()
                was_ready = True
            manager.say("ready" if ready else missing(checks))
        await pause(ended if stop.is_set() else stop, manager.every_seconds)


def missing(checks: dict[str, Any]) -> str:
    """Return what a service waits for, in one line."""
    wrong = [f"{name}: {one['detail']}" for name, one in checks.items() if not one["ok"]]
    return "; ".join(wrong).replace("\n", " ") or "stopping"
