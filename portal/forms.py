"""Forms: each comes from a page of ours, in this browser, or it isn't read.

A page holds a random value that this browser has as a cookie, too: another site can have its
visitor's browser send a form here, but it knows neither. And the browser says where a form is from.
"""

import hmac
import secrets
from email.parser import BytesParser
from email.policy import HTTP
from urllib.parse import parse_qsl

from fastapi import Request

from gatepost.errors import FormRefused, Malformed, UnsupportedMediaType
from gatepost.service.asgi import read_body
from portal import cookies

FIELD = "form"
MAX_BYTES, MAX_FIELDS = 16 * 1024, 64
_TYPE, _TYPE_OF_FILES = "application/x-www-form-urlencoded", "multipart/form-data"


def token_of(request: Request) -> str:
    """What a form on the page that is being made has to hold."""
    known: str | None = getattr(request.state, "form", None) or request.cookies.get(cookies.FORM)
    return known or renew(request)


def renew(request: Request) -> str:
    """Who has signed in doesn't go on with what somebody else may have left in this browser."""
    fresh: str = secrets.token_urlsafe(32)
    request.state.form = fresh
    cookies.put(request, cookies.FORM, fresh)
    return fresh


async def read(request: Request, *, files: bool = False) -> dict[str, str]:
    """The fields; with `files`, small text files among them. Raises FormRefused unless it is a form
    of ours."""
    _check_origin(request)
    told = request.headers.get("content-type", "")
    kind = told.partition(";")[0].strip().lower()
    if kind not in ((_TYPE, _TYPE_OF_FILES) if files else (_TYPE,)):
        raise UnsupportedMediaType("This is not what a form of ours sends.")
    body = await read_body(request.receive, MAX_BYTES)
    try:
        fields = _pairs(body) if kind == _TYPE else _parts(told, body)
    except ValueError:
        raise Malformed("This is not a form that can be read.") from None
    given, expected = fields.pop(FIELD, ""), request.cookies.get(cookies.FORM, "")
    if not expected or not hmac.compare_digest(given.encode(), expected.encode()):
        raise FormRefused()
    return fields


def _pairs(body: bytes) -> dict[str, str]:
    given = parse_qsl(
        body.decode(), keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS
    )
    return dict(given)


def _parts(told: str, body: bytes) -> dict[str, str]:
    """Raises ValueError for what isn't whole, and for files that aren't text."""
    head = f"content-type: {told}\r\n\r\n".encode("ascii")
    whole = BytesParser(policy=HTTP).parsebytes(head + body)
    parts = list(whole.iter_parts()) if whole.is_multipart() else []
    if not parts or whole.defects or len(parts) > MAX_FIELDS:
        raise ValueError("no parts, or some that have no end")
    fields = {}
    for part in parts:
        content = part.get_payload(decode=True)
        if part.is_multipart() or not isinstance(content, bytes):
            raise ValueError("a part of parts")
        fields[str(part.get_param("name", header="content-disposition"))] = content.decode()
    return fields


def _check_origin(request: Request) -> None:
    """By what browsers say and pages can't change."""
    site = request.headers.get("sec-fetch-site", "same-origin")
    origin = request.headers.get("origin")
    ours = f"https://{request.headers.get('host', '')}"
    if site != "same-origin" or origin != ours:
        raise FormRefused()
