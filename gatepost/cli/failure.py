"""Describes how the command fails: in words, with one exit code for each thing that a script would
do next.

With --json an error is one JSON object on stderr; stdout carries results alone.
"""

from collections.abc import Mapping
from typing import Any

EXITS = {
    0: "done",
    1: "a fault: of this command, or an answer that makes no sense",
    2: "wrong usage: options or configuration",
    3: "refused: the message can't be taken as it is",
    4: "not found: no such message of yours",
    5: "not available: nothing was accepted, try again later",
    6: "no trusted connection: TLS, certificate, key or CA",
    7: "outcome unknown: repeat it with the same idempotency key",
    8: "forbidden for this certificate",
    9: "the message came to another end than delivered",
    10: "the time to wait was over first",
    11: "done, but Redis was not told: who serves hears of it from a running main server",
    130: "interrupted",
}
EXIT_OF_KIND = {
    "fault": 1,
    "unexpected-answer": 1,
    "usage": 2,
    "invalid-input": 3,
    "refused": 3,
    "not-found": 4,
    "unavailable": 5,
    "rate-limited": 5,
    "certificate": 6,
    "outcome-unknown": 7,
    "forbidden": 8,
    "not-delivered": 9,
    "still-waiting": 10,
    "unheard": 11,
    "interrupted": 130,
}


class Failure(Exception):
    """The command can't go on. `details` is what a script gets beyond the words."""

    def __init__(self, kind: str, message: str, hint: str | None = None, **details: Any) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.hint = hint
        self.details = details

    @property
    def exit_code(self) -> int:
        return EXIT_OF_KIND[self.kind]

    def document(self) -> Mapping[str, Any]:
        """Return what --json says of the failure; what is not known is left out."""
        fields = {
            "kind": self.kind,
            "exit_code": self.exit_code,
            "message": self.message,
            "hint": self.hint,
            **self.details,
        }
        return {name: value for name, value in fields.items() if value not in (None, (), [])}


def exits_text() -> str:
    """Return the exit codes for --help; the marker keeps the lines from being joined."""
    return "\b\nExit codes:\n" + "\n".join(f"  {code:<4} {what}" for code, what in EXITS.items())
