"""Admission: a pure function from bytes and identity to a submission or a refusal.

Unknown fields are refused. A field's name is repeated only if it is plain ASCII; a value never is:
nothing that was sent comes back in a refusal.
"""

import re
from dataclasses import dataclass
from typing import Any

from gatepost.errors import FieldError, IdentityMismatch, Invalid
from gatepost.mistakes import unknown_field
from gatepost.trust.identity import Identity
from proxy.schedule import FIELDS, UNSAID, Schedule, moment_of, read_schedule
from proxy.settings import Validation
from proxy.strict_json import parse

MOST_MEANT = 3
"""The most unknown fields for which a name that was meant is looked for: a batch may have many."""
_KNOWN = {"sender_number", "message_body", "metadata", *FIELDS}


@dataclass(frozen=True, slots=True)
class Submission:
    """A submission that was found to be good. Its repr shows nothing of it."""

    sender_number: str
    message_body: str
    client_timestamp: int | None
    schedule: Schedule = UNSAID

    def __repr__(self) -> str:
        return "Submission(…)"


def admit(body: bytes, sender: Identity, rules: Validation) -> Submission:
    """Admit a body; raise Malformed, Invalid (with every mistake found) or IdentityMismatch."""
    return admit_document(parse(body), sender, rules)


def admit_document(document: Any, sender: Identity, rules: Validation) -> Submission:
    """Admit a document that has been read already: an item of a batch."""
    if not isinstance(document, dict):
        raise Invalid(errors=[FieldError("", "must be an object")])
    mistakes: list[FieldError] = []
    _unknown(document, _KNOWN, "", mistakes)
    number = _text(document, "sender_number", mistakes)
    if number is not None and not re.fullmatch(rules.phone_pattern, number, re.ASCII):
        mistakes.append(
            FieldError("/sender_number", "must be E.164: '+' and 2 to 15 digits, the first not 0")
        )
    text = _text(document, "message_body", mistakes)
    if text is not None and (wrong := _wrong_body(text, rules.max_body_length)):
        mistakes.append(FieldError("/message_body", wrong))
    client_id, timestamp = _metadata(document, mistakes)
    schedule = read_schedule(document, mistakes)
    if mistakes:
        raise Invalid(errors=mistakes)
    assert number is not None
    assert text is not None
    if client_id is not None and not sender.answers_to(client_id):
        raise IdentityMismatch("metadata.client_id is not the client of this certificate.")
    return Submission(number, text, timestamp, schedule)


def _wrong_body(text: str, limit: int) -> str | None:
    if len(text) > limit:
        return f"may have {limit} characters at most"
    if "\0" in text:
        return "must not hold a NUL character"
    if not text.strip():
        return "must not be blank"
    return None


def _metadata(
    document: dict[str, Any], mistakes: list[FieldError]
) -> tuple[str | None, int | None]:
    if "metadata" not in document:
        return None, None
    metadata = document["metadata"]
    if not isinstance(metadata, dict):
        mistakes.append(FieldError("/metadata", "must be an object"))
        return None, None
    _unknown(metadata, {"client_id", "timestamp"}, "/metadata", mistakes)
    client_id = _text(metadata, "client_id", mistakes, "/metadata", optional=True)
    stamp = _text(metadata, "timestamp", mistakes, "/metadata", optional=True)
    if stamp is None:
        return client_id, None
    moment = moment_of(stamp)
    if moment is None:
        mistakes.append(
            FieldError(
                "/metadata/timestamp",
                "must be ISO 8601 with a zone, from the year 1000 on: 2025-10-20T12:34:56.789Z",
            )
        )
    return client_id, moment


def _text(
    document: dict[str, Any],
    name: str,
    mistakes: list[FieldError],
    parent: str = "",
    *,
    optional: bool = False,
) -> str | None:
    if name not in document:
        if not optional:
            mistakes.append(FieldError(f"{parent}/{name}", "is required"))
        return None
    value = document[name]
    if isinstance(value, str):
        return value
    mistakes.append(FieldError(f"{parent}/{name}", "must be a string"))
    return None


def _unknown(
    document: dict[str, Any], known: set[str], parent: str, mistakes: list[FieldError]
) -> None:
    for name in document:
        if name not in known:
            meant = known if len(mistakes) < MOST_MEANT else ()
            mistakes.append(unknown_field(parent, name, meant))
            if len(mistakes) >= 10:
                return
