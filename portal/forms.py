"""Forms: each comes from a page of ours, in this browser, or it isn't read.

A page holds a random value that this browser has as a cookie, too: another site can have its
visitor's browser send a form here, but it knows neither. And the browser says where a form is from.
"""

import hmac
import secrets
from urllib.parse import parse_qsl

from fastapi import Request

from gatepost.errors import FormRefused, Malformed, UnsupportedMediaType
from gatepost.service.asgi import read_body
from portal import cookies

FIELD = "form"
MAX_BYTES, MAX_FIELDS = 16 * 1024, 64
_TYPE = "application/x-www-form-urlencoded"


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


async def read(request: Request) -> dict[str, str]:
    """The fields. Raises FormRefused unless it is a form of ours."""
    _check_origin(request)
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _TYPE:
        raise UnsupportedMediaType("This is not what a form of ours sends.")
    body = await read_body(request.receive, MAX_BYTES)
    try:
        pairs = parse_qsl(
            body.decode(), keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS
        )
    except ValueError:
        raise Malformed("This is not a form that can be read.") from None
    fields = dict(pairs)
    given, expected = fields.pop(FIELD, ""), request.cookies.get(cookies.FORM, "")
    if not expected or not hmac.compare_digest(given.encode(), expected.encode()):
        raise FormRefused()
    return fields


def _check_origin(request: Request) -> None:
    """By what browsers say and pages can't change."""
    site = request.headers.get("sec-fetch-site", "same-origin")
    origin = request.headers.get("origin")
    ours = f"https://{request.headers.get('host', '')}"
    if site != "same-origin" or origin != ours:
        raise FormRefused()
