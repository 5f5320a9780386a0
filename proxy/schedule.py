"""The schedule that a sender may ask for: how soon a message is delivered, not before, until when,
behind which.

Pure. A value is read and bounded with the rest of the document; the times are held against the time
at which the message was taken, which a repeat under its Idempotency-Key shares with the first.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from gatepost.clock import FIRST_MS, to_ms
from gatepost.errors import FieldError, Invalid
from gatepost.queue.keys import HIGHEST_PRIORITY, LOWEST_PRIORITY
from gatepost.queue.messages import DEFAULT_PRIORITY

FIELDS = frozenset({"priority", "ttl", "expires_at", "due_at", "ordering_key"})
LONGEST_ORDERING_KEY = 128
_TIMESTAMP = re.compile(
    r"\A\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:[0-5]\d)\Z", re.ASCII
)


@dataclass(frozen=True, slots=True)
class Schedule:
    """A schedule as it was sent; times in milliseconds since the epoch, `ttl` in seconds."""

    priority: int = DEFAULT_PRIORITY
    ttl: int | None = None
    expires_at: int | None = None
    due_at: int | None = None
    ordering_key: str | None = field(default=None, repr=False)

    @property
    def parts(self) -> list[str]:
        """The parts that were said, for the MAC of a payload; none if nothing was said."""
        if self == UNSAID:
            return []
        values = (self.priority, self.ttl, self.expires_at, self.due_at, self.ordering_key)
        return ["" if value is None else str(value) for value in values]


UNSAID = Schedule()


def read_schedule(document: Mapping[str, Any], mistakes: list[FieldError]) -> Schedule:
    """Return what the document says; what is wrong with it joins the mistakes."""
    if FIELDS.isdisjoint(document):
        return UNSAID
    said = Schedule(
        priority=_priority(document, mistakes),
        ttl=_ttl(document, mistakes),
        expires_at=_moment(document, "expires_at", mistakes),
        due_at=_moment(document, "due_at", mistakes),
        ordering_key=_ordering_key(document, mistakes),
    )
    if "ttl" in document and "expires_at" in document:
        mistakes.append(FieldError("/expires_at", "must not stand beside ttl: give one of them"))
    return said


def times(schedule: Schedule, queued_at: int, longest_ms: int) -> tuple[int | None, int]:
    """Return when the message is due, if not at once, and when it expires; raise Invalid if these
    can't be.

    `queued_at` is the time of the message's id, `longest_ms` how long any may live.
    """
    latest = queued_at + longest_ms
    expires_at = latest
    if schedule.ttl is not None:
        expires_at = queued_at + schedule.ttl * 1000
        if expires_at > latest:
            raise _wrong("ttl", f"may be {longest_ms // 1000} seconds at most")
    elif schedule.expires_at is not None:
        expires_at = schedule.expires_at
        if expires_at <= queued_at:
            raise _wrong("expires_at", "must be in the future")
        if expires_at > latest:
            raise _wrong("expires_at", f"may be {longest_ms // 1000} seconds from now at most")
    if schedule.due_at is not None and schedule.due_at >= expires_at:
        raise _wrong("due_at", "must be before the message expires")
    late = schedule.due_at is not None and schedule.due_at > queued_at
    return schedule.due_at if late else None, expires_at


def moment_of(text: str) -> int | None:
    """Return the milliseconds of an ISO 8601 time with a zone, from the year 1000 on; None if it
    isn't that."""
    if not _TIMESTAMP.match(text):
        return None
    try:
        moment = datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return ms if (ms := to_ms(moment)) >= FIRST_MS else None


def _priority(document: Mapping[str, Any], mistakes: list[FieldError]) -> int:
    value = document.get("priority", DEFAULT_PRIORITY)
    if type(value) is int and LOWEST_PRIORITY <= value <= HIGHEST_PRIORITY:
        return value
    words = f"must be a whole number from {LOWEST_PRIORITY} to {HIGHEST_PRIORITY}"
    mistakes.append(FieldError("/priority", words))
    return DEFAULT_PRIORITY


def _ttl(document: Mapping[str, Any], mistakes: list[FieldError]) -> int | None:
    if "ttl" not in document:
        return None
    value = document["ttl"]
    if type(value) is int and value >= 1:
        return value
    mistakes.append(FieldError("/ttl", "must be a whole number of seconds, at least 1"))
    return None


def _moment(document: Mapping[str, Any], name: str, mistakes: list[FieldError]) -> int | None:
    if name not in document:
        return None
    value = document[name]
    moment = moment_of(value) if isinstance(value, str) else None
    if moment is None:
        words = "must be ISO 8601 with a zone: 2025-10-20T12:34:56.789Z"
        mistakes.append(FieldError(f"/{name}", words))
    return moment


def _ordering_key(document: Mapping[str, Any], mistakes: list[FieldError]) -> str | None:
    if "ordering_key" not in document:
        return None
    value = document["ordering_key"]
    if isinstance(value, str) and 1 <= len(value) <= LONGEST_ORDERING_KEY:
        return value
    words = f"must be a string of 1 to {LONGEST_ORDERING_KEY} characters"
    mistakes.append(FieldError("/ordering_key", words))
    return None


def _wrong(name: str, words: str) -> Invalid:
    return Invalid(errors=[FieldError(f"/{name}", words)])
