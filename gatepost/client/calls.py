"""What is asked of the gateway: requests as values, built by pure functions.

A Call shows nothing of what it carries. A send always names an Idempotency-Key.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID, uuid4

from gatepost.client.tracing import current_traceparent
from gatepost.clock import iso, to_ms

MESSAGES = "/api/v1/messages"
WHOAMI = "/api/v1/whoami"

_VISIBLE_ASCII = re.compile(r"\A[!-~]{1,255}\Z")


@dataclass(frozen=True, slots=True)
class Call:
    """One request. `repeatable`: asking twice is as good as asking once."""

    method: str
    path: str
    repeatable: bool
    headers: Mapping[str, str] = field(repr=False)
    content: bytes | None = field(default=None, repr=False)

    @property
    def request_id(self) -> str:
        return self.headers["X-Request-Id"]


def send_call(
    sender_number: str,
    message_body: str,
    *,
    client_id: str | None,
    timestamp: datetime | str | None,
    idempotency_key: str,
) -> Call:
    if not _VISIBLE_ASCII.match(idempotency_key):
        raise ValueError("an idempotency key is 1 to 255 visible ASCII characters")
    submission: dict[str, object] = {"sender_number": sender_number, "message_body": message_body}
    metadata = {"client_id": client_id, "timestamp": _time_text(timestamp)}
    if given := {name: value for name, value in metadata.items() if value is not None}:
        submission["metadata"] = given
    # Pure ASCII on purpose: encoding a lone surrogate would raise an error that holds the body;
    # escaped, it reaches the gateway, which refuses it in its own words.
    content = json.dumps(submission, ensure_ascii=True, separators=(",", ":")).encode("ascii")
    headers = _headers({"Content-Type": "application/json", "Idempotency-Key": idempotency_key})
    return Call("POST", MESSAGES, repeatable=False, headers=headers, content=content)


def status_call(message_id: UUID | str) -> Call:
    """A message's id becomes part of a path, so it must be a UUID before it is sent."""
    return Call("GET", f"{MESSAGES}/{as_uuid(message_id)}", repeatable=True, headers=_headers())


def whoami_call() -> Call:
    return Call("GET", WHOAMI, repeatable=True, headers=_headers())


def as_uuid(message_id: UUID | str) -> UUID:
    if isinstance(message_id, UUID):
        return message_id
    try:
        return UUID(message_id)
    except ValueError:
        raise ValueError("a message id is a UUID, as its receipt says it") from None


def _headers(more: Mapping[str, str] | None = None) -> dict[str, str]:
    return {
        "Accept": "application/json",
        "X-Request-Id": str(uuid4()),
        "traceparent": current_traceparent(),
        **(more or {}),
    }


def _time_text(timestamp: datetime | str | None) -> str | None:
    if not isinstance(timestamp, datetime):
        return timestamp
    if timestamp.tzinfo is None:
        raise ValueError("a timestamp needs a time zone")
    return iso(to_ms(timestamp))
