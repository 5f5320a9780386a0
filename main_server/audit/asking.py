"""Questions to the audit log, as an address or a shell says them. Pure, and strict."""

import re
from datetime import UTC, datetime

from gatepost.clock import FIRST_MS, LAST_MS, from_ms, to_ms
from gatepost.errors import FieldError, Invalid
from main_server.audit.list_repository import Filters, Times
from main_server.audit.names import actor_of, is_name
from main_server.audit.search import EVER, Place
from main_server.audit.words import ACTIONS
from main_server.reasons import holds_number

_NAMED = re.compile(r"\A[ -~]{1,255}\Z")
_PLACE = re.compile(r"\A([0-9]{1,15})\.([0-9]{1,4})\Z")


def filters_of(actor: str | None, action: str | None, subject: str | None) -> Filters:
    """Return the filters that somebody names. An action is one of those that there are; people are
    meant by alice@example.com, too."""
    if action and action not in ACTIONS:
        raise Invalid(errors=[FieldError("/action", "is no action that the audit log knows")])
    return Filters(_named(actor, "/actor"), action or None, _named(subject, "/subject"))


def times_of(first: datetime | None, end: datetime | None) -> Times:
    times = Times(_naive(first) or EVER.first, _naive(end) or EVER.end)
    if not times.first < times.end:
        raise Invalid(errors=[FieldError("/from", "must be before the end of the time asked for")])
    return times


def place_in(text: str | None) -> Place | None:
    """Read a place as `place_text` has said it."""
    if not text:
        return None
    parts = _PLACE.match(text)
    if not parts or not FIRST_MS <= int(parts[1]) < LAST_MS:
        raise Invalid(errors=[FieldError("/before", "is not what an answer of ours has said")])
    return Place(from_ms(int(parts[1])), int(parts[2]))


def place_text(place: Place | None) -> str | None:
    return f"{to_ms(place.at)}.{place.passed}" if place else None


def _named(text: str | None, pointer: str) -> str | None:
    text = (text or "").strip()
    if not text:
        return None
    if not _NAMED.match(text):
        raise Invalid(errors=[FieldError(pointer, "is nothing that the audit log can name")])
    if holds_number(text):
        words = "holds a number: no entry does, and this would be kept in one"
        raise Invalid(errors=[FieldError(pointer, words)])
    name, at, domain = text.partition("@")
    return actor_of(domain, name) if at and is_name(name) else text


def _naive(moment: datetime | None) -> datetime | None:
    if moment is None or moment.tzinfo is None:
        return moment
    try:
        return moment.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:  # at an end of the calendar, in a zone that is a few hours beyond it
        return moment.replace(tzinfo=None)
