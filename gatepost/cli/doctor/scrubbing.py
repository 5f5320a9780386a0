"""Decides what of an event, a setting or a metric may go to support. Pure.

It goes by lists of what may, not of what may not: nobody can know what a text quotes. From events
about a request or a message only single words and numbers are kept; from others our own words as
well.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

HIDDEN = "********"
ALWAYS = ("ts", "level", "service", "event", "pid")
WORDS = (
    *(
        "child",
        "count",
        "delivered",
        "accepted",
        "deliveries",
        "settlements",
        "messages",
        "serials",
    ),
    *("status", "route", "method", "ms", "state", "durability", "store", "queue", "version", "how"),
    *("processes", "error", "logger", "problem", "message_id", "after_seconds", "replayed", "kids"),
    *("revocation_number", "replaced", "revoked", "certificates", "connections", "enqueued"),
)
"""The fields of which a single word, or a number, is kept."""
OURS = ("reason", "problem")
"""The fields that hold our own words, unless the event is about somebody's request."""
OF_SOMEBODY = ("request_id", "message_id", "client_id", "caller", "user", "route")
MOST = 500
_WORD = re.compile(
    r"[A-Za-z/][A-Za-z0-9_.:/@{}*#-]{0,79}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_FRAME = re.compile(r"[A-Za-z0-9_]+\.py:\d+ [A-Za-z0-9_<>]+")
_SECRET = re.compile(r"secret|passw|passphrase|token|credential|(?<![a-z])key", re.IGNORECASE)
_USER_IN_URL = re.compile(r"(?<=://)[^/\s@]+@")
_LONG = re.compile(r"\+?\d{7,}|[\w-]{10,}(\.[\w-]{10,}){2}|(?=[A-Za-z+=_-]*\d)[A-Za-z0-9+=_-]{24,}")
_SAMPLE = re.compile(r"# (HELP|TYPE) gatepost_|gatepost_[a-z0-9_]+(\{[^}]*\})? [0-9.eE+-]+$")
_LARGEST = 10**7


@dataclass(slots=True)
class Events:
    """The events in a log, reduced to what may be kept, and how many lines were no events."""

    kept: list[Mapping[str, Any]] = field(default_factory=list)
    others: int = 0


def events_of(lines: Iterable[str]) -> Events:
    found = Events()
    for line in lines:
        event = _read(line)
        if event is None:
            found.others += 1
        else:
            found.kept.append(dict(_kept(event)))
    return found


def is_secret_name(name: str) -> bool:
    return bool(_SECRET.search(name))


def setting(name: str, value: Any) -> Any:
    """Return a value that is not a secret by its type, with what may be secret in it masked."""
    if isinstance(value, Mapping):
        return {k: HIDDEN if is_secret_name(k) else setting(name, v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [setting(name, one) for one in value]
    return _USER_IN_URL.sub(f"{HIDDEN}@", value) if isinstance(value, str) else value


def metrics_of(text: str) -> list[str]:
    return [line for line in text.splitlines() if _SAMPLE.match(line)]


def words(text: str) -> str:
    """Return our own words, without what looks like a number, a key or a token."""
    return _LONG.sub(HIDDEN, _USER_IN_URL.sub(f"{HIDDEN}@", text))[:MOST]


def _read(line: str) -> dict[str, Any] | None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) and isinstance(event.get("event"), str) else None


def _kept(event: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    about_somebody = not event.keys().isdisjoint(OF_SOMEBODY)
    for name, value in event.items():
        if name in (*ALWAYS, *WORDS) and _is_plain(value):
            yield name, value
        if name in OURS and isinstance(value, str) and not about_somebody:
            yield name, words(value)
        if name == "where" and isinstance(value, list):
            yield name, [one for one in value if isinstance(one, str) and _FRAME.fullmatch(one)]


def _is_plain(value: Any) -> bool:
    if isinstance(value, str):
        return bool(_WORD.fullmatch(value) or _TIME.fullmatch(value))
    if isinstance(value, list):
        return all(_is_plain(one) for one in value)
    if isinstance(value, int | float):
        return abs(value) < _LARGEST
    return value is None
