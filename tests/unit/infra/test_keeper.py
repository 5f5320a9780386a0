"""A child that ends is started again, and that is said; the waits between grow."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from infra.dev.child import Child
from infra.dev.keeper import Keeper
from infra.dev.place import session

FOREVER = "import time; time.sleep(600)"


def until(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[[str], Child]]:
    made: list[Child] = []

    def child(code: str) -> Child:
        command = [sys.executable, "-S", "-c", code]
        made.append(
            Child("sleeper", command, tmp_path / "log", tmp_path, {}, lock=tmp_path / "lock")
        )
        return made[-1]

    yield child
    for one in made:
        one.kill()


def test_a_killed_child_comes_back_and_both_are_said(make: Callable[[str], Child]) -> None:
    said: list[str] = []
    keeper, child = Keeper(said.append), make(FOREVER)
    keeper.launch(child, child.start)
    first = child.pid
    os.kill(first, signal.SIGKILL)
    until(keeper.look_after)
    assert child.exit_code() is None
    assert child.pid != first
    assert said == [
        "sleeper was killed by signal 9; starting it again in 0.1 s",
        f"sleeper runs again (process {child.pid})",
    ]


def test_one_that_ends_at_once_is_given_more_time_at_each_turn(
    make: Callable[[str], Child],
) -> None:
    said: list[str] = []
    keeper, child = Keeper(said.append), make("raise SystemExit(3)")
    keeper.launch(child, child.start)
    until(lambda: (keeper.look_after(), len(said) >= 5)[1])
    assert [text for text in said if "again in" in text] == [
        f"sleeper ended with exit code 3; starting it again in {wait} s" for wait in (0.1, 0.2, 0.4)
    ]


def test_stop_is_bounded_and_takes_what_the_child_has_started(
    make: Callable[[str], Child], tmp_path: Path
) -> None:
    child = make(
        "import os, signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "pid = os.fork()\n"
        "if pid: open('grandchild', 'w').write(str(pid))\n"
        "time.sleep(600)"
    )
    child.start()
    note = tmp_path / "grandchild"
    until(lambda: note.exists() and note.read_text() != "")
    child.stop(0.2)
    assert child.exit_code() == -signal.SIGKILL
    until(lambda: session(child.pid) == [])
