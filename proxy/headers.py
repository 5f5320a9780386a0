"""Checks of what the headers of a post must say, before its body is read."""

import re

from gatepost.errors import FieldError, Invalid, UnsupportedMediaType
from gatepost.service.asgi import DISCARD_BYTES, Scope, header, too_large

_KEY = re.compile(rb"\A[\x21-\x7e]{1,255}\Z")


def check_body_headers(scope: Scope, limit: int, *media_types: bytes) -> bytes:
    """Return the media type, which is one of these; raise UnsupportedMediaType or TooLarge."""
    media_type, _, parameters = (header(scope, b"content-type") or b"").lower().partition(b";")
    charset = parameters.replace(b" ", b"").replace(b'"', b"")
    if media_type.strip() not in media_types or charset not in (b"", b"charset=utf-8"):
        names = " or ".join(one.decode() for one in media_types)
        raise UnsupportedMediaType(f"Send the body as {names}, in UTF-8.")
    if (header(scope, b"content-encoding") or b"identity").lower() != b"identity":
        raise UnsupportedMediaType("Send the body without a content encoding.")
    length = header(scope, b"content-length") or b"0"
    if length.isdigit() and int(length[:20]) > limit + DISCARD_BYTES:
        raise too_large(limit)
    return media_type.strip()


def idempotency_key(scope: Scope) -> str | None:
    values = [value for name, value in scope["headers"] if name == b"idempotency-key"]
    if not values:
        return None
    if len(values) > 1 or not _KEY.match(values[0]):
        raise bad_key("")
    return bytes(values[0]).decode()


def bad_key(pointer: str) -> Invalid:
    detail = "an Idempotency-Key is 1 to 255 visible ASCII characters, sent once"
    return Invalid(errors=[FieldError(pointer, detail)])
