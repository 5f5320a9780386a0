"""Holds what is told of a call beyond its address."""

import re
from dataclasses import dataclass, field
from typing import Any

from infra.site.openapi.schemas import Words

_WHO = ("bad-identity", "unknown-certificate", "revoked-certificate", "wrong-role")
ALWAYS = (*_WHO, "too-much-at-once")
"""The problems that any call behind mutual TLS may be answered with, as well as those below."""
ANYWHERE = ("method-not-allowed", "unavailable", "internal")
PARAMETERS = {
    "after": "Where the page before ended: its `next`, or `after`.",
    "client_id": "As `domain:name`.",
    "domain": "Of this domain.",
    "expiring_days": "That are over within so many days.",
    "kid": "The number of its key, hex.",
    "hold_id": "As the list of holds has it.",
    "limit": "At most so many.",
    "message_id": "As it was answered when the message was sent.",
    "name": "Of this name.",
    "request": "In base64.",
    "role": "Of this role.",
    "serial": "Hex.",
    "sorting": "By what they are ordered.",
    "status": "In this state.",
    "token": "By its hash, as the list has it.",
}
"""The words for each parameter in an address, wherever it is."""
FORMS: dict[str, dict[str, str]] = {
    "kid": {"pattern": "^[0-9a-f]{40}$"},
    "message_id": {"format": "uuid"},
}
"""The forms of parameters in paths, beside being a text."""
_IN_PATH = re.compile(r"\{(\w+)\}")
_ARTICLES = ("a", "an", "the", "your")
READ = ("malformed", "invalid", "too-large", "rate-limited")
"""The problems for which a body may be refused."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that an interface offers. `request` and `answer` are types, or media types of what
    isn't JSON."""

    method: str
    path: str
    summary: str
    answer: Any = None
    status: int = 200
    request: Any = None
    request_example: Any = None
    answer_example: Any = None
    words: str = ""
    problems: tuple[str, ...] = ()
    headers: dict[str, str] = field(default_factory=dict)
    """The request's headers."""
    answered: dict[str, str] = field(default_factory=dict)
    """The answer's headers."""
    line: Any = None
    """The type of each line, where the body may be NDJSON as well."""

    @property
    def operation_id(self) -> str:
        """The name in programs, so of letters and digits alone: `Send a message` is sendMessage."""
        words = [word for word in self.summary.split() if word not in _ARTICLES]
        plain = ["".join(c for c in word if c.isascii() and c.isalnum()) for word in words]
        return plain[0].lower() + "".join(word[0].upper() + word[1:] for word in plain[1:])

    @property
    def in_path(self) -> list[str]:
        """The parameters in the path; what follows them (`{kid}.cer`) is no part of their names."""
        return _IN_PATH.findall(self.path)


@dataclass(frozen=True, slots=True)
class Interface:
    """A port, and all that can be called there."""

    name: str
    title: str
    words: str
    server: str
    calls: tuple[Call, ...]
    mutual_tls: bool = True
    words_of: Words = field(default_factory=dict)
    anywhere: dict[str, str] = field(default_factory=dict)
    """Headers that any answer may have, refusals too."""
