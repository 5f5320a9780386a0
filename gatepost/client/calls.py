"""Requests to the gateway as values, built by pure functions.

A Call shows nothing of what it carries. A send always names an Idempotency-Key.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from gatepost.client.messages import Message
from gatepost.client.tracing import current_traceparent

MESSAGES = "/api/v1/messages"
BATCH = "/api/v1/messages/batch"
WHOAMI = "/api/v1/whoami"

_VISIBLE_ASCII = re.compile(r"\A[!-~]{1,255}\Z")


@dataclass(frozen=True, slots=True)
class Call:
    """One request. It is `repeatable` if asking twice is as good as asking once."""

    method: str
    path: str
    repeatable: bool
    headers: Mapping[str, str] = field(repr=False)
    content: bytes | None = field(default=None, repr=False)

    @property
    def request_id(self) -> str:
        return self.headers["X-Request-Id"]


def send_call(message: Message, idempotency_key: str) -> Call:
    check_key(idempotency_key)
    headers = _headers({"Content-Type": "application/json", "Idempotency-Key": idempotency_key})
    content = encode(message.submission())
    return Call("POST", MESSAGES, repeatable=False, headers=headers, content=content)


def batch_call(items: Sequence[bytes]) -> Call:
    """Return the call for a batch of encoded items, each with its idempotency_key."""
    headers = _headers({"Content-Type": "application/x-ndjson"})
    return Call("POST", BATCH, repeatable=False, headers=headers, content=b"\n".join(items))


def encode(document: Mapping[str, Any]) -> bytes:
    """Return the document as JSON, in pure ASCII on purpose: encoding a lone surrogate would raise
    an error that holds the body; escaped, it reaches the gateway, which refuses it in its own
    words."""
    return json.dumps(document, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def check_key(idempotency_key: str) -> None:
    if not _VISIBLE_ASCII.match(idempotency_key):
        raise ValueError("an idempotency key is 1 to 255 visible ASCII characters")


def status_call(message_id: UUID | str) -> Call:
    """Return the call for a message's status. Its id becomes part of a path, so it must be a UUID
    before it is sent."""
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
