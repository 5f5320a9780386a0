"""Scenes that are played one after the other, each where the one before it has ended."""

from collections.abc import Callable, Iterable
from typing import TypeAlias

from infra.dev.steps import Failure
from tests.drills.debian.machine import Machine
from tests.drills.debian.operator import Operator, Wrong

Scene: TypeAlias = Callable[[Operator], str]
"""It says what it has seen."""


def by_name(scenes: Iterable[Scene]) -> list[tuple[str, Scene]]:
    return [(scene.__name__.replace("_", " "), scene) for scene in scenes]


def play_on(
    machine: Machine, scenes: Iterable[tuple[str, Scene]], say: Callable[[str], None]
) -> list[str]:
    """What went wrong: the first is all, for the others would begin elsewhere."""
    operator = Operator(machine)
    with machine:
        for words, scene in scenes:
            try:
                say(f"{words}: {scene(operator)}")
            except (Wrong, Failure) as wrong:
                return [f"{words}: {wrong}"]
    return []
