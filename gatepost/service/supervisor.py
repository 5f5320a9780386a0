"""The supervisor: forks a service's children, replaces the dead and the stuck, stops them all.

Each child tells over a pipe, once a second, that its loop turns and how its dependencies are. The
end of the pipe is the end of the child; and a child that can't write to it has lost its supervisor
and ends too. Nothing but this process knows how many children there are.

On SIGHUP the settings are read again. Children with the new ones take the places of the others, one
by one, each when it is as well as the one before it; if the first doesn't get there, all stays as
it was.
"""

import asyncio
import gc
import json
import os
import signal
import socket
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from gatepost import metrics
from gatepost.errors import ConfigurationError
from gatepost.logs import Log
from gatepost.loops import backoff, pause
from gatepost.service.draining import Drain
from gatepost.service.forking import DRAIN, UNDRAIN, Running, fork
from gatepost.service.live import Live
from gatepost.service.notify import Manager, manager_loop
from gatepost.service.ops import Check, Checks, operators_app
from gatepost.service.serving import serve
from gatepost.service.standing import Standing, families

HEARTBEAT_SECONDS = 1.0
LATE_AFTER_SECONDS = 5.0
"""Seconds of a child's silence after which the service manager is no longer told that we are
alive."""
STUCK_AFTER_SECONDS = 15.0
STEADY_AFTER_SECONDS = 10.0
GRACE_SECONDS = 27.0
SUCCESSION_SECONDS = 30.0
"""Seconds that a child with new settings may take until it is as well as the one before it."""


@dataclass(slots=True)
class Child:
    """The things that a child is given: when to stop, its listeners, the pipe to its supervisor,
    and whether it drains."""

    log: Log
    listeners: list[socket.socket]
    stop: asyncio.Event
    pipe: int
    drain: Drain = field(default_factory=Drain)

    async def heart_loop(self, checks: Callable[[], Checks]) -> None:
        """Tell the supervisor that this loop turns; if there is no supervisor any more, end as if
        told to.

        Nobody is left then who would kill a child that doesn't end.
        """
        while not self.stop.is_set():
            try:
                os.write(self.pipe, json.dumps(checks()).encode() + b"\n")
            except BlockingIOError:
                pass  # a supervisor that stands still must not stop us
            except BrokenPipeError:
                self.log.error("supervisor.lost")
                self.stop.set()
                asyncio.get_running_loop().call_later(GRACE_SECONDS, os._exit, 1)
            await pause(self.stop, HEARTBEAT_SECONDS)


Main = Callable[[Child], Coroutine[Any, Any, None]]


class Changing(Protocol):
    """The settings, as they can be read again."""

    def read_again(self) -> Main | None:
        """Return what children are to run, None if that is as it was; raise ConfigurationError if
        what was read can't be used."""

    def take_up(self) -> None:
        """Take up what was read: it is good, children run with it."""


@dataclass(slots=True, eq=False)
class _Place:
    """A place where there is to be a child, until the place is let go."""

    child: Running | None = None
    let_go: asyncio.Event = field(default_factory=asyncio.Event)


class Supervisor:
    def __init__(
        self,
        log: Log,
        processes: int,
        listeners: list[socket.socket],
        operators: socket.socket,
        metrics_folder: Path,
        main: Main,
        *,
        drains: bool = False,
    ) -> None:
        self._log = log
        self._processes = processes
        self._listeners = listeners
        self._operators = operators
        self._metrics = metrics_folder
        self._main = main
        self._drains, self._drain = drains, Drain()
        self._running: dict[int, Running] = {}
        self._keepers: dict[_Place, asyncio.Task[None]] = {}
        self._stop = asyncio.Event()
        self._failed = False
        self._deaths = 0
        self._group = asyncio.TaskGroup()

    async def run(self, manager: Manager, settings: Changing) -> bool:
        """Run until told to stop; return whether a child had to be killed for it."""
        self._obey_signals(asked := asyncio.Event())
        gc.freeze()  # what is loaded by now stays shared with the children
        app = operators_app(self.readiness, self.exposition)
        ended = asyncio.Event()
        async with self._group as group:
            for _ in range(self._processes):
                self._keep(_Place())
            group.create_task(serve(app, self._operators, None, ended, Live(self._log)))
            group.create_task(
                manager_loop(self._stop, ended, manager, self.readiness, self.turning)
            )
            reloading = group.create_task(self._reload_loop(asked, manager, settings))
            await self._stop.wait()
            await reloading
            for listener in self._listeners:
                listener.close()  # or who calls now would wait for one that never takes the call
            while self._keepers:
                await asyncio.wait(self._keepers.values(), return_when="FIRST_COMPLETED")
            ended.set()
        return self._failed

    def readiness(self) -> tuple[bool, dict[str, Any]]:
        """Return whether the service is ready, and its checks: every child must be there, heard of,
        and content with each of its dependencies."""
        heard = self._heard()
        complete = len(heard) >= self._processes and not self._stop.is_set()
        checks = {"processes": Check(complete, f"{len(heard)} of {self._processes}")}
        for name in sorted({name for one in heard for name in one}):
            said = [one[name] for one in heard if name in one]
            checks[name] = min(said, key=lambda check: (check.ok, check.detail is None))
        shown = {name: check._asdict() for name, check in checks.items()}
        return all(check.ok for check in checks.values()), shown

    def exposition(self) -> bytes:
        ready, _ = self.readiness()
        standing = Standing(ready, self._processes, self._heard(), self._deaths)
        return metrics.exposition(self._metrics, *families(standing))

    def _heard(self) -> list[Checks]:
        children = [place.child for place in self._keepers if place.child is not None]
        return [child.checks for child in children if child.checks is not None]

    def turning(self) -> bool:
        """Return whether every child has been heard of lately, but for those that are to end."""
        places = [] if self._stop.is_set() else self._keepers
        kept = [p.child for p in places if p.child is not None and not p.let_go.is_set()]
        now = time.monotonic()
        return all(now - child.heard < LATE_AFTER_SECONDS for child in kept)

    def _obey_signals(self, asked: asyncio.Event) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop.set)
        loop.add_signal_handler(signal.SIGHUP, asked.set)
        loop.add_signal_handler(signal.SIGUSR1, self._toggle_debug)
        loop.add_signal_handler(DRAIN, self._start_draining)
        loop.add_signal_handler(UNDRAIN, self._end_draining)

    def _toggle_debug(self) -> None:
        self._log.warning("log.level", level=self._log.level.toggle_debug())

    def _start_draining(self) -> None:
        if not self._drains:
            self._log.warning("drain.refused", reason="nothing takes this service's work over")
        elif self._drain.begin():
            self._log.warning("drain.started")

    def _end_draining(self) -> None:
        if self._drain.end():
            self._log.warning("drain.ended")

    def _keep(self, place: _Place) -> None:
        """Keep a child in a place from now on, until the place is let go."""
        keeper = self._keepers[place] = self._group.create_task(self._keep_filled(place))
        keeper.add_done_callback(lambda _: self._keepers.pop(place))

    async def _keep_filled(self, place: _Place) -> None:
        """Start a child whenever the place has none; wait longer between starts that fail at
        once."""
        waits = backoff(0.1, 10.0)
        while not (self._stop.is_set() or place.let_go.is_set()):
            child = place.child = place.child or self._fork()
            await self._watch(child, place)
            place.child = None
            if time.monotonic() - child.started > STEADY_AFTER_SECONDS:
                waits = backoff(0.1, 10.0)
            if not (self._stop.is_set() or place.let_go.is_set()):
                await _first_of(self._stop, place.let_go, seconds=next(waits))

    async def _watch(self, child: Running, place: _Place) -> None:
        """Watch a child until it has ended and been buried; a stuck one is killed."""
        told = False
        while not (child.ended.is_set() or told):
            await _first_of(child.ended, self._stop, place.let_go, seconds=1)
            told = self._stop.is_set() or place.let_go.is_set()
            if time.monotonic() - child.heard > STUCK_AFTER_SECONDS:
                self._log.error("process.stuck", child=child.pid)
                os.kill(child.pid, signal.SIGKILL)
                break
        if told and not child.ended.is_set():
            await self._end(child)
        await child.ended.wait()
        self._bury(child, died=not told)

    async def _end(self, child: Running) -> None:
        os.kill(child.pid, signal.SIGTERM)
        try:
            async with asyncio.timeout(GRACE_SECONDS):
                await child.ended.wait()
        except TimeoutError:
            self._failed = True
            self._log.error("process.killed", child=child.pid, after_seconds=GRACE_SECONDS)
            os.kill(child.pid, signal.SIGKILL)

    def _bury(self, child: Running, *, died: bool) -> None:
        how = child.bury()
        del self._running[child.pid]
        metrics.forget_process(self._metrics, child.pid)
        if died:
            self._deaths += 1
            self._log.warning("process.died", child=child.pid, how=how)

    def _fork(self, main: Main | None = None) -> Running:
        run = main or self._main

        def child_main(pipe: int, stop: asyncio.Event) -> Coroutine[Any, Any, None]:
            return run(Child(self._log, self._listeners, stop, pipe, self._drain))

        child = fork(self._log, [sock.fileno() for sock in self._listeners], child_main)
        self._running[child.pid] = child
        return child

    async def _reload_loop(
        self, asked: asyncio.Event, manager: Manager, settings: Changing
    ) -> None:
        while not self._stop.is_set():
            await _first_of(asked, self._stop)
            if self._stop.is_set():
                return
            asked.clear()
            manager.reloading()
            manager.note = ""
            try:
                self._log.info("settings.reloaded", replaced=await self._reload(settings))
            except ConfigurationError as error:
                if not self._stop.is_set():
                    self._log.error("settings.refused", reason=error.detail)
                manager.note = "new settings were refused, the log says why"
            if not self._stop.is_set():
                manager.ready()

    async def _reload(self, settings: Changing) -> int:
        """Replace the children if new settings want it; return how many were replaced. If it raises
        ConfigurationError, none was."""
        main = settings.read_again()
        if main is None:
            settings.take_up()
            return 0
        first, *others = self._keepers
        successor = self._fork(main)
        if not await self._gets_well(successor, first.child):
            await self._give_up(successor)
            raise ConfigurationError("a process with the new settings does not get ready")
        self._main = main
        settings.take_up()
        await self._succeed(first, successor)
        for place in others:
            await self._gets_well(successor := self._fork(), place.child)
            await self._succeed(place, successor)
        return 1 + len(others)

    async def _gets_well(self, successor: Running, before: Running | None) -> bool:
        """Return whether all becomes well with a successor that is with the child before it, soon
        enough."""
        deadline = time.monotonic() + SUCCESSION_SECONDS
        usual = (before.checks if before else None) or {}
        while time.monotonic() < deadline and not (successor.ended.is_set() or self._stop.is_set()):
            said = successor.checks
            if said and all(c.ok for n, c in said.items() if n not in usual or usual[n].ok):
                return True
            await _first_of(self._stop, successor.ended, seconds=HEARTBEAT_SECONDS / 4)
        return False

    async def _succeed(self, place: _Place, successor: Running) -> None:
        self._keep(_Place(successor))
        place.let_go.set()
        if keeper := self._keepers.get(place):
            await asyncio.wait({keeper})

    async def _give_up(self, successor: Running) -> None:
        if not successor.ended.is_set():
            await self._end(successor)
        await successor.ended.wait()
        self._bury(successor, died=False)


async def _first_of(*events: asyncio.Event, seconds: float | None = None) -> None:
    waits = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, timeout=seconds, return_when="FIRST_COMPLETED")
    finally:
        for wait in waits:
            wait.cancel()
