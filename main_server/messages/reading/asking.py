"""Questions as an address says them: read strictly, with their usual bounds. Pure."""

import re
from datetime import UTC, datetime, timedelta

from gatepost.clock import to_ms
from gatepost.errors import FieldError, Invalid
from gatepost.ids import first_id_at
from main_server.messages.reading.list_repository import Span
from main_server.messages.reading.scope import Asked, domain_within
from main_server.people.users.viewer import Viewer
from main_server.tenants.names import check_names

USUAL = timedelta(days=30)
_NUMBER, _BETWEEN = re.compile(r"\A\+[1-9][0-9]{1,14}\Z"), re.compile(r"[ ()/.-]")
_REASON = re.compile(r"\A[a-z_]{1,32}\Z")
_MAC = 32
_MOST_MACS = 8
FIRST, _AHEAD = datetime(2020, 1, 1, tzinfo=UTC), timedelta(minutes=5)
"""The time before which there is nothing, and how far ahead of ours a clock may be."""


def span_of(
    first: datetime | None, end: datetime | None, now: datetime, before: str | None = None
) -> Span:
    """Return the span of ids asked for: without dates, the last 30 days, up to a little in the
    future, as clocks differ."""
    latest = now + _AHEAD
    last = max(FIRST, min(_aware(end), latest)) if end else latest  # elsewhere no message is
    begin = max(FIRST, _aware(first) if first else last - USUAL)
    if not begin < last:
        raise Invalid(errors=[FieldError("/from", "must be before the end of the time asked for")])
    span = Span(first_id_at(to_ms(begin)), first_id_at(to_ms(last)))
    return span if before is None else Span(span.first, min(span.end, _hex(before, 16, "/before")))


def asked_by(viewer: Viewer, domain: str | None, client: str | None) -> Asked:
    """Return what is asked for. A client is meant by its name, too, where it is clear of which
    domain."""
    domain, client = domain or None, client or None
    check_names(domain)
    if client is not None:
        own, _, name = client.rpartition(":")
        check_names(own or None, name)
    if client is not None and ":" not in client:
        within = domain_within(viewer, Asked(domain))
        if within is None:
            words = "is domain:name, unless a domain is given as well"
            raise Invalid(errors=[FieldError("/client", words)])
        client = f"{within}:{client}"
    return Asked(domain, client)


def macs_of(sender: str | None) -> list[bytes]:
    """Read MACs as `POST /api/portal/messages/sender` has answered them."""
    parts = sender.split(",") if sender else []
    if len(parts) > _MOST_MACS:
        raise Invalid(errors=[FieldError("/sender", "is not what stands for a number")])
    return [_hex(one, _MAC, "/sender") for one in parts]


def number_in(text: str) -> str:
    """Read a number as people write it, with what they put between the digits."""
    number = _BETWEEN.sub("", text)
    if not _NUMBER.match(number):
        words = "is a + and 2 to 15 digits, as +491701234567"
        raise Invalid(errors=[FieldError("/number", words)])
    return number


def instant(text: str | None, pointer: str) -> datetime | None:
    try:
        return _aware(datetime.fromisoformat(text)) if text else None
    except ValueError:
        raise Invalid(errors=[FieldError(pointer, "is not a time in ISO 8601")]) from None


def reason_in(text: str | None) -> str | None:
    """Read the reason why messages failed, as the ledger says it."""
    if text and not _REASON.match(text):
        raise Invalid(errors=[FieldError("/reason", "is none of the reasons of a failure")])
    return text or None


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _hex(text: str, size: int, pointer: str) -> bytes:
    try:
        found = bytes.fromhex(text)
    except ValueError:
        found = b""
    if len(found) != size:
        raise Invalid(errors=[FieldError(pointer, "is not what an answer of ours has said")])
    return found
