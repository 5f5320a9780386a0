"""What a caller hands over: a message, and all that may be said with it. What was sent is never
shown."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypedDict

from gatepost.clock import iso, to_ms


class Options(TypedDict, total=False):
    """What may be said with a message; see Message for each."""

    client_id: str | None
    timestamp: datetime | str | None
    idempotency_key: str | None
    priority: int | None
    ttl: int | None
    expires_at: datetime | str | None
    due_at: datetime | str | None
    ordering_key: str | None


@dataclass(frozen=True, slots=True)
class Message:
    """A message to send; the gateway judges each of its values.

    Times are of a `datetime` with a zone, or ISO 8601.
    """

    sender_number: str = field(repr=False)
    message_body: str = field(repr=False)
    client_id: str | None = field(default=None, repr=False)
    timestamp: datetime | str | None = field(default=None, repr=False)
    """The caller's own; it is kept, and decides nothing."""
    idempotency_key: str | None = field(default=None, repr=False)
    """By which a repeat is known; without one each send makes its own."""
    priority: int | None = None
    """From 1 to 10, the most urgent; 5 if nothing is said."""
    ttl: int | None = None
    """For how many seconds it may be delivered, or"""
    expires_at: datetime | str | None = None
    """until when."""
    due_at: datetime | str | None = None
    """It isn't delivered before."""
    ordering_key: str | None = field(default=None, repr=False)
    """It is delivered after those of the same one that were accepted before."""

    def submission(self) -> Mapping[str, Any]:
        """As the gateway takes it, without its key."""
        metadata = {"client_id": self.client_id, "timestamp": time_text(self.timestamp)}
        fields = {
            "sender_number": self.sender_number,
            "message_body": self.message_body,
            "metadata": _said(metadata) or None,
            "priority": self.priority,
            "ttl": self.ttl,
            "expires_at": time_text(self.expires_at),
            "due_at": time_text(self.due_at),
            "ordering_key": self.ordering_key,
        }
        return _said(fields)


def time_text(time: datetime | str | None) -> str | None:
    if not isinstance(time, datetime):
        return time
    if time.tzinfo is None:
        raise ValueError("a time needs a time zone")
    return iso(to_ms(time))


def _said(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
