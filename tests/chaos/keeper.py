"""Starts again what has ended, a moment later, as systemd would, but for what is held down."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from infra.dev.child import Child
from tests.chaos.journal import Journal

RESTART_SECONDS = 0.1
LOOK_SECONDS = 0.05


@dataclass
class Kept:
    child: Child
    launch: Callable[[], None]
    due: float | None = None


class Held:
    """What one fault holds down; let go once, however often that is asked for."""

    def __init__(self, let_go: Callable[[], None]) -> None:
        self._let_go: Callable[[], None] | None = let_go

    def let_go(self) -> None:
        let_go, self._let_go = self._let_go, None
        if let_go is not None:
            let_go()


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

    def hold(self, *names: str) -> Held:
        with self._lock:
            self._held.update(names)
        return Held(lambda: self._let_go(names))

    def is_held(self, name: str) -> bool:
        with self._lock:
            return self._held[name] > 0

    def _let_go(self, names: Sequence[str]) -> None:
        with self._lock:
            self._held.subtract(names)

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
                    if not self.is_held(name):
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
        except Exception as error:  # whatever it is, the next try may do: nobody else starts it
            kept.due = now + 10 * RESTART_SECONDS
            self.journal.note("start failed", name, why=f"{type(error).__name__}: {error}")
