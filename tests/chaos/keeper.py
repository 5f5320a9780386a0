"""Starts again what has ended, a moment later, as systemd would, but for what is held down."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from infra.dev.child import Child
from infra.dev.steps import Failure
from tests.chaos.journal import Journal

RESTART_SECONDS = 0.1
LOOK_SECONDS = 0.05


@dataclass
class Kept:
    child: Child
    launch: Callable[[], None]
    due: float | None = None


@dataclass
class Keeper:
    """Holds are counted: what two faults hold down starts when both have let go."""

    journal: Journal
    _kept: dict[str, Kept] = field(default_factory=dict)
    _held: Counter[str] = field(default_factory=Counter)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def keep(self, name: str, child: Child, launch: Callable[[], None]) -> None:
        with self._lock:
            self._kept[name] = Kept(child, launch)

    def hold(self, *names: str) -> None:
        with self._lock:
            self._held.update(names)

    def let_go(self, *names: str) -> None:
        with self._lock:
            self._held.subtract(names)

    @contextmanager
    def held(self, *names: str) -> Iterator[None]:
        self.hold(*names)
        try:
            yield
        finally:
            self.let_go(*names)

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="keeper")
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(LOOK_SECONDS):
            for name, kept in self._kept.items():
                with self._lock:
                    if self._held[name] <= 0:
                        self._look(name, kept)

    def _look(self, name: str, kept: Kept) -> None:
        code = kept.child.exit_code()
        if code is None:
            return
        now = time.monotonic()
        if kept.due is None:
            kept.due = now + RESTART_SECONDS
            self.journal.note("ended", name, code=code)
        if now < kept.due:
            return
        try:
            kept.child.kill()  # what it has left behind holds its ports
            kept.launch()
            kept.due = None
            self.journal.note("started", name)
        except Failure as failure:
            kept.due = now + 10 * RESTART_SECONDS
            self.journal.note("start failed", name, why=str(failure))
