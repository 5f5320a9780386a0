"""Messages of days that tests choose."""

import secrets
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
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
    random: bytes = field(default_factory=lambda: secrets.token_bytes(9))

    @property
    def message_id(self) -> bytes:
        return self.ms.to_bytes(6, "big") + b"\x70" + self.random

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
            "sender_number_hashed": bytes(32),
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
            "generation": 0,
        }
