"""Prints the command's words: results, as JSON lines or for people, on stdout; the rest on
stderr."""

import dataclasses
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any, TypeAlias

from rich.console import Console
from rich.text import Text

from gatepost.clock import iso, to_ms

Part: TypeAlias = str | tuple[str, str]


class Output:
    """A way of speaking for a whole command: as JSON, or for people."""

    def __init__(self, *, json: bool) -> None:
        self.json = json
        self._screen = Console(highlight=False, soft_wrap=True)

    def result(self, document: object) -> None:
        """Write one JSON line, at once, so that a script that reads along isn't kept waiting."""
        sys.stdout.write(json.dumps(plain(document)) + "\n")
        sys.stdout.flush()

    def say(self, *parts: Part) -> None:
        """Print one line for people; a part is a text, or a text and its style."""
        self._screen.print(Text.assemble(*parts))

    @contextmanager
    def busy(self, words: str) -> Iterator[None]:
        """Show that something goes on, on a terminal only."""
        if self.json or not self._screen.is_terminal:
            yield
            return
        with self._screen.status(words):
            yield


def plain(value: Any) -> Any:
    """Return the value for JSON: times in ISO 8601, UTC, with milliseconds, as at all
    boundaries."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, datetime):
        return iso(to_ms(value))
    return value
