"""What the harness must do is tried until it is done or its time is over, and each try is told."""

import pytest

from tests.chaos.persisting import PAUSE_SECONDS, NotDone, persist


class Clock:
    """Time passes when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class Act:
    """Fails so many times."""

    def __init__(self, failures: int) -> None:
        self.left = failures

    def __call__(self) -> str:
        if self.left:
            self.left -= 1
            raise OSError("the store is away")
        return "done"


def test_what_fails_is_tried_again_and_each_try_is_told() -> None:
    clock, told = Clock(), list[tuple[int, str]]()

    def note(number: int, why: str) -> None:
        told.append((number, why))

    done = persist("it", Act(2), 10.0, told=note, clock=clock, sleep=clock.sleep)
    assert done == "done"
    assert told == [(1, "OSError: the store is away"), (2, "OSError: the store is away")]


def test_what_cannot_be_done_in_its_time_is_named_with_the_reason() -> None:
    clock = Clock()
    with pytest.raises(NotDone, match=r"releasing it could not be done, after 5 tries: OSError"):
        persist("releasing it", Act(99), 4 * PAUSE_SECONDS, clock=clock, sleep=clock.sleep)


def test_a_defect_is_not_tried_again() -> None:
    act = Act(1)
    with pytest.raises(OSError, match="away"):
        persist("it", act, 10.0, (ValueError,))
