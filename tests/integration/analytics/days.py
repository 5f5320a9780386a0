"""Messages of days that tests choose."""

import secrets
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from typing import Any

from gatepost.clock import from_ms

SEVENTH = date(2026, 9, 7)
"""A Monday. The night after it is the one that the tests play first."""


def at(day: date, hour: int = 12, minute: int = 0, millis: int = 0) -> int:
    """Milliseconds since the epoch, in UTC."""
    moment = datetime(day.year, day.month, day.day, hour, minute, tzinfo=UTC)
    return int(moment.timestamp() * 1000) + millis


def night_after(day: date, hour: int = 2) -> datetime:
    """When the run of that night starts: naive, UTC."""
    return datetime(day.year, day.month, day.day, hour) + timedelta(days=1)


@dataclass(frozen=True)
class Message:
    """A row of the ledger."""

    ms: int
    status: str = "delivered"
    client: str = "client_001"
    domain: str = "example.com"
    took_ms: int = 250
    attempts: int = 1
    reason: str | None = None
    sender: str | None = "+1234567890"
    kid: bytes = b"\x01" * 8
    generation: int = 0
    random: bytes = field(default_factory=lambda: secrets.token_bytes(9))

    @property
    def message_id(self) -> bytes:
        return self.ms.to_bytes(6, "big") + b"\x70" + self.random

    @property
    def mac(self) -> bytes | None:
        """Of the sender's number: different in each domain, and under each key."""
        if self.sender is None:
            return None
        return sha256(self.kid + self.domain.encode() + self.sender.encode()).digest()

    @property
    def client_id(self) -> str:
        return f"{self.domain}:{self.client}"

    def row(self) -> dict[str, Any]:
        accepted = from_ms(self.ms)
        delivered = accepted + timedelta(milliseconds=self.took_ms)
        return {
            "message_id": self.message_id,
            "client_id": self.client_id,
            "domain": self.domain,
            "cert_fingerprint": bytes(32),
            "sender_number_hashed": self.mac,
            "hmac_kid": None if self.mac is None else self.kid,
            "encrypted_body": b"sealed",
            "key_id": 1,
            "status": self.status,
            "reason": self.reason,
            "created_at": accepted,
            "queued_at": accepted,
            "delivered_at": delivered if self.status == "delivered" else None,
            "due_at": accepted,
            "expires_at": accepted + timedelta(hours=96),
            "attempt_count": self.attempts,
            "queue": "message_queue",
            "priority": 5,
            "generation": self.generation,
        }


@dataclass(frozen=True)
class Attempt:
    """What the ledger has noted of one; `begun_ms` after the acceptance of its message."""

    message: Message
    number: int
    begun_ms: int
    took_ms: int = 20
    outcome: str = "retry"

    def row(self) -> dict[str, Any]:
        begun = from_ms(self.message.ms + self.begun_ms)
        return {
            "message_id": self.message.message_id,
            "attempt": self.number,
            "started_at": begun,
            "ended_at": begun + timedelta(milliseconds=self.took_ms),
            "outcome": self.outcome,
            "reason": None if self.outcome == "delivered" else "refused",
        }
