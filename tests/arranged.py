"""Which tests come after which: those that share something that takes long to start stand together.

A stack costs seconds of a processor to start, and a sixth of one as long as it runs. So two workers
begin at the two ends of that: one at what shares the stack, the other at what has stores of its
own; what needs neither follows, and is what they take from each other when one is done. Within a
folder, and among folders, the order is the one that was given: no test may rely on it.
"""

from collections.abc import Sequence
from pathlib import PurePath
from typing import TypeVar

STACK = ("tests/acceptance",)
OWN = (
    "tests/acceptance/chaos",  # takes minutes, whatever else there is to do
    "tests/acceptance/two_stores",
    "tests/acceptance/doctor",
    "tests/acceptance/queue",
    "tests/integration",
)
T = TypeVar("T")


def arranged(tests: Sequence[tuple[PurePath, T]]) -> list[T]:
    """What is given with its file, which is named from the root of the checkout."""
    turns: dict[PurePath, int] = {}
    for file, _ in tests:
        turns.setdefault(file.parent, len(turns))
    by_place: dict[str, list[T]] = {}
    for file, test in sorted(tests, key=lambda one: turns[one[0].parent]):
        by_place.setdefault(_place(file), []).append(test)
    first, second, others = (
        [test for place in places for test in by_place.get(place, ())]
        for places in (STACK, OWN, ("",))
    )
    fill = max(0, len(tests) // 2 - len(first))
    return [*first, *others[:fill], *second, *others[fill:]]


def _place(file: PurePath) -> str:
    """The nearest of the folders that are named above."""
    folders = [str(folder) for folder in file.parents]
    return next((folder for folder in folders if folder in (*STACK, *OWN)), "")
