"""Readers of short texts: headers, addresses' parts, fields, and what pages of lists end with."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gatepost.addresses import behind
from gatepost.clock import to_ms
from gatepost.errors import BadIdentity, GatepostError, Invalid, NotFound
from gatepost.service.requests import _begin
from gatepost.trace import is_recorded
from gatepost.zones import zone_of
from main_server.api.admin.tokens import _digest, _place
from main_server.api.pki import _decode
from main_server.audit.asking import filters_of, place_in
from main_server.ca.anchors.service import _parse
from main_server.ca.holders import CLIENT_ID, check_after, parse_holder
from main_server.ca.requests import _hex
from main_server.messages.reading import asking
from main_server.reasons import checked_words
from main_server.tenants.names import check_names
from proxy import headers
from tests.hostile.readers import Reader, text_of

_NOW = datetime(2026, 1, 1, tzinfo=UTC)
_TYPED = (b"content-type", b"application/json")
_JSON = b'application/json; charset="utf-8"'
_TRACE = b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def list_readers(folder: Path) -> list[Reader]:
    return [*_headers(), *_fields()]


def _scope(name: bytes, value: bytes) -> dict[str, Any]:
    return {"type": "http", "headers": [(name, value), _TYPED], "method": "POST", "path": "/"}


def _headers() -> list[Reader]:
    def begun(name: bytes) -> Any:
        return lambda data: _begin(_scope(name, data), None)

    def typed(name: bytes) -> Any:
        return lambda d: headers.check_body_headers(_scope(name, d), 99, b"application/json")

    def keyed(data: bytes) -> object:
        return headers.idempotency_key(_scope(b"idempotency-key", data))

    refused = (GatepostError,)
    return [
        Reader("request id", begun(b"x-request-id"), b"request-1"),
        Reader("traceparent", begun(b"traceparent"), _TRACE),
        Reader("recorded", lambda d: is_recorded(text_of(d)), _TRACE),
        Reader(
            "content type", typed(b"content-type"), b'application/json; charset="utf-8"', refused
        ),
        Reader("content length", typed(b"content-length"), b"17", refused),
        Reader(
            "Idempotency-Key",
            lambda d: headers.idempotency_key(_scope(b"idempotency-key", d)),
            b"abc",
            refused,
        ),
        Reader("forwarded", lambda d: behind("10.0.0.1", [text_of(d)], []), b"10.0.0.1, ::1"),
    ]


def _fields() -> list[Reader]:
    invalid = (Invalid,)

    def span(data: bytes) -> object:
        first, _, last = text_of(data).partition("/")
        begin, end = asking.instant(first, "/from"), asking.instant(last, "/to")
        return asking.span_of(begin, end, _NOW, None)

    def moment(data: bytes) -> object:
        found = asking.instant(text_of(data), "/from")
        return to_ms(found) if found else None

    def named(data: bytes) -> object:
        return filters_of(text_of(data), None, text_of(data))

    return [
        Reader("action", lambda d: filters_of(None, text_of(d), None), b"user.created", invalid),
        Reader("number", lambda d: asking.number_in(text_of(d)), b"+49 151 12345678", invalid),
        Reader("span", span, b"2026-01-01T00:00:00+00:00/2026-02-01T00:00:00Z", invalid),
        Reader("moment", moment, b"2026-01-01T00:00:00+14:00", invalid),
        Reader("why it failed", lambda d: asking.reason_in(text_of(d)), b"refused", invalid),
        Reader("words", lambda d: checked_words(text_of(d)), b"because", invalid),
        Reader("MACs", lambda d: asking.macs_of(text_of(d)), b"ab" * 32, invalid),
        Reader("audit's filters", named, b"a@b.example", invalid),
        Reader("audit's place", lambda d: place_in(text_of(d)), b"1760000000000.3", invalid),
        Reader("tokens' place", lambda d: _place(text_of(d)), b"17600000-" + b"ab" * 32, invalid),
        Reader("token's digest", lambda d: _digest(text_of(d)), b"ab" * 32, (NotFound,)),
        Reader("anchor's id", lambda d: _parse(text_of(d)), b"ab" * 32, (NotFound,)),
        Reader("serial", lambda d: _hex(text_of(d), 32), b"AB:CD:01", invalid),
        Reader("holder", lambda d: parse_holder(text_of(d)), b"example.com:a", (BadIdentity,)),
        Reader("names", lambda d: check_names(text_of(d), text_of(d)), b"example", invalid),
        Reader("page's end", lambda d: check_after(text_of(d), CLIENT_ID), b"b.example:a", invalid),
        Reader("OCSP in an address", lambda d: _decode(text_of(d)), b"MEQwQjBA"),
        Reader(
            "time zone",
            lambda d: zone_of(text_of(d)),
            b"Europe/Berlin",
            (Invalid, ValueError, KeyError),
        ),
    ]
