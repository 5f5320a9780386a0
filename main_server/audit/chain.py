"""The entries of the audit log: what each says, and how it hangs on the one before.

Pure. What was changed, left out or put in between shows when the chain is walked again; what was
cut from its end shows against a head that was noted before (`gatepost audit verify --head`).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any

from gatepost.clock import iso, to_ms

SYSTEM = "system"
"""The actor of what no person and no certificate has asked for."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One action; `details` names all that it touched, never what a message said."""

    actor: str
    action: str
    subject: str
    domain: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Link:
    """An entry in its place in the chain; `details` is the text that was hashed."""

    seq: int
    at: datetime
    actor: str
    action: str
    domain: str | None
    subject: str
    details: str
    previous: bytes
    hash: bytes

    def expected_hash(self) -> bytes:
        said = [self.seq, iso(to_ms(self.at)), self.actor, self.action, self.domain, self.subject]
        return sha256(self.previous + _text([*said, self.details]).encode()).digest()


@dataclass(frozen=True, slots=True)
class Head:
    seq: int
    hash: bytes

    def __str__(self) -> str:
        return f"{self.seq}:{self.hash.hex()}"


def link(entry: Entry, head: Head, at: datetime) -> Link:
    """Return the entry, hung on the head of the chain."""
    unsigned = Link(
        head.seq + 1,
        at,
        entry.actor,
        entry.action,
        entry.domain,
        entry.subject,
        _text(entry.details),
        head.hash,
        b"",
    )
    said = {name: getattr(unsigned, name) for name in Link.__slots__}
    return Link(**(said | {"hash": unsigned.expected_hash()}))


def parse_head(text: str) -> Head:
    """Parse a head as its `str` says it; raise ValueError if it is none."""
    seq, _, digest = text.partition(":")
    found = Head(int(seq), bytes.fromhex(digest))
    if len(found.hash) != sha256().digest_size or found.seq < 0:
        raise ValueError("a head is the number of an entry, a colon and 64 hex digits")
    return found


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
