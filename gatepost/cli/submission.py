"""Parses what is to be sent, from bytes. Pure.

Nothing here says a body or a number again: not in an error, not in a repr.
"""

import json
import re
from typing import Any

from gatepost.cli.failure import Failure
from gatepost.client.messages import Message

# Four times what the gateway takes, as JSON may spell a character in six.
LARGEST = 64 * 1024
_SHAPE = (
    'A message is {"sender_number": "+1234567890", "message_body": "..."}; "metadata", '
    '"idempotency_key", "priority", "ttl" or "expires_at", "due_at", "ordering_key" may be added.'
)
_SAYABLE = re.compile(r"\A[A-Za-z_]{1,64}\Z")
_SCHEDULE = {"priority", "ttl", "expires_at", "due_at", "ordering_key"}
_FIELDS = {"sender_number", "message_body", "metadata", "idempotency_key", *_SCHEDULE}
_METADATA = {"client_id", "timestamp"}


def parse(content: bytes) -> Message:
    if len(content) > LARGEST:
        raise _invalid("It is too large: a message is 16 KiB at most.")
    fields = _object(content)
    _known(fields, _FIELDS, "")
    metadata = fields.get("metadata", {})
    if not isinstance(metadata, dict):
        raise _invalid("/metadata is not an object.")
    _known(metadata, _METADATA, "/metadata")
    return Message(
        sender_number=_needed(fields, "sender_number"),
        message_body=_needed(fields, "message_body"),
        client_id=_optional(metadata, "client_id"),
        timestamp=_optional(metadata, "timestamp"),
        idempotency_key=_optional(fields, "idempotency_key"),
        priority=_number(fields, "priority"),
        ttl=_number(fields, "ttl"),
        expires_at=_optional(fields, "expires_at"),
        due_at=_optional(fields, "due_at"),
        ordering_key=_optional(fields, "ordering_key"),
    )


def _object(content: bytes) -> dict[str, Any]:
    words = text(content)
    try:
        document = json.loads(words, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise _invalid(_json_words(words, error)) from None
    except (RecursionError, ValueError):
        raise _invalid("It is nested too deep, or a number in it is too long.") from None
    if not isinstance(document, dict):
        raise _invalid("It is JSON, but not an object.")
    return document


def _json_words(text: str, error: json.JSONDecodeError) -> str:
    if not text.strip():
        return "There is nothing to send: the input is empty."
    if error.msg == "Extra data":
        return "There is more than one JSON document: use --lines for one on each line."
    return f"It is not JSON: {error.msg} (line {error.lineno}, column {error.colno})."


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise _invalid("It has a field twice.")
    return fields


def _known(fields: dict[str, Any], known: set[str], where: str) -> None:
    for name in fields:
        if name not in known:
            shown = f"{where}/{name}" if _SAYABLE.match(name) else f"a field of {where or '/'}"
            raise _invalid(f"{shown} is not known.")


def _needed(fields: dict[str, Any], name: str) -> str:
    value = _optional(fields, name)
    if value is None:
        raise _invalid(f"/{name} is missing.")
    return value


def _optional(fields: dict[str, Any], name: str) -> str | None:
    value = fields.get(name)
    if value is not None and not isinstance(value, str):
        raise _invalid(f"/{name} is not a text.")
    return value


def _number(fields: dict[str, Any], name: str) -> int | None:
    value = fields.get(name)
    if value is not None and type(value) is not int:
        raise _invalid(f"/{name} is not a whole number.")
    return value


def text(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _invalid("It is not UTF-8.") from None


def _invalid(words: str) -> Failure:
    return Failure("invalid-input", f"The input can't be sent. {words}", _SHAPE)
