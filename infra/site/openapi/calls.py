"""What is told of a call beyond its address."""

from dataclasses import dataclass, field
from typing import Any

ALWAYS = ("bad-identity", "unknown-certificate", "revoked-certificate", "wrong-role")
"""Behind mutual TLS any call may be answered so, and with the ones below."""
ANYWHERE = ("method-not-allowed", "unavailable", "internal")
PARAMETERS = {
    "after": "Where the page before ended: its `next`, or `after`.",
    "client_id": "As `domain:name`.",
    "domain": "Of this domain.",
    "expiring_days": "That are over within so many days.",
    "kid": "The number of its key, hex.",
    "limit": "At most so many.",
    "name": "Of this name.",
    "request": "In base64.",
    "role": "Of this role.",
    "serial": "Hex.",
    "sorting": "By what they are ordered.",
    "status": "In this state.",
    "token": "By its hash, as the list has it.",
}
"""What is in addresses, wherever it is."""
READ = ("malformed", "invalid", "too-large", "rate-limited")
"""What a body may be refused for."""


@dataclass(frozen=True, slots=True)
class Call:
    """`request` and `answer` are types, or media types of what isn't JSON."""

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
    """Of the request."""
    answered: dict[str, str] = field(default_factory=dict)
    """Headers of the answer."""
    also: tuple[str, ...] = ()
    """Further media types that the body may have."""

    @property
    def operation_id(self) -> str:
        return self.summary[0].lower() + "".join(self.summary.title().split())[1:]


@dataclass(frozen=True, slots=True)
class Interface:
    """A port, and all that can be called there."""

    name: str
    title: str
    words: str
    server: str
    calls: tuple[Call, ...]
    mutual_tls: bool = True
