"""The message that a caller hands over, and all that may be said with it. What was sent is never
shown."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypedDict

from gatepost.clock import iso, to_ms


class Options(TypedDict, total=False):
    """The options of a message; see Message for each."""

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

    A time is a `datetime` with a zone, or ISO 8601 text.
    """

    sender_number: str = field(repr=False)
    message_body: str = field(repr=False)
    client_id: str | None = field(default=None, repr=False)
    timestamp: datetime | str | None = field(default=None, repr=False)
    """The caller's own time; it is kept, and decides nothing."""
    idempotency_key: str | None = field(default=None, repr=False)
    """The key by which a repeat is known; without one, each send makes its own."""
    priority: int | None = None
    """The priority, from 1 to 10, the most urgent; 5 if nothing is said."""
    ttl: int | None = None
    """Seconds for which it may be delivered; or say `expires_at`."""
    expires_at: datetime | str | None = None
    """The time until which it may be delivered; or say `ttl`."""
    due_at: datetime | str | None = None
    """The time before which it isn't delivered."""
    ordering_key: str | None = field(default=None, repr=False)
    """The key of an order: the message is delivered after those of the same key that were accepted
    before it."""

    def submission(self) -> Mapping[str, Any]:
        """Return the message as the gateway takes it, without its idempotency key."""
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
