"""A look: what it looks at, why that matters, what mends it, and what it finds."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from gatepost.cli.doctor.site import Site


class State(StrEnum):
    OK = "ok"
    WARNING = "warning"
    WRONG = "wrong"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a look found. Without a `command`, that of its look mends it."""

    state: State
    found: str
    command: str | None = None


Findings: TypeAlias = Iterable[Finding]
See: TypeAlias = Callable[[Site], Findings]


class CantTell(Exception):
    """Something couldn't be seen; `command` shows it, if there is one."""

    def __init__(self, why: str, command: str | None = None) -> None:
        super().__init__(why)
        self.why = why
        self.command = command


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A look. `see` finds nothing where there is nothing of its kind, and may raise CantTell.
    `mend` is the first command for whoever has to put it right, or to see it closer."""

    name: str
    at: str
    why: str
    mend: str
    see: See


def fine(found: str) -> Finding:
    return Finding(State.OK, found)


def warning(found: str, command: str | None = None) -> Finding:
    return Finding(State.WARNING, found, command)


def wrong(found: str, command: str | None = None) -> Finding:
    return Finding(State.WRONG, found, command)


def unknown(found: str, command: str | None = None) -> Finding:
    return Finding(State.UNKNOWN, found, command)
