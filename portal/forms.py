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
PASSWORD, CODE = "proof-password", "proof-code"
"""By which who sends a form shows that it is them, where that was wanted (`portal.proving`)."""
MAX_BYTES, MAX_FIELDS = 16 * 1024, 64
_TYPE, _TYPE_OF_FILES = "application/x-www-form-urlencoded", "multipart/form-data"


def token_of(request: Request) -> str:
    """What a form on the page that is being made has to hold."""
    known: str | None = getattr(request.state, "form", None) or request.cookies.get(cookies.FORM)
    if known or cookies.shows_tokens(request):
        return known or renew(request)
    firsts = cookies.firsts(request)
    return firsts[0] if firsts else _first(request)


def renew(request: Request) -> str:
    """Who has signed in doesn't go on with what somebody else may have left in this browser."""
    return _put(request, cookies.FORM, secrets.token_urlsafe(32))


def _first(request: Request) -> str:
    """Before anybody has signed in, by a name of its own: of two pages that a browser opens at once
    none takes it from the other."""
    fresh = secrets.token_urlsafe(32)
    return _put(request, f"{cookies.FIRST}{fresh[:8]}", fresh)


def _put(request: Request, name: str, fresh: str) -> str:
    request.state.form = fresh
    cookies.put_form(request, name, fresh)
    return fresh


async def read(request: Request, *, files: bool = False, by_nobody: bool = False) -> dict[str, str]:
    """The fields; with `files`, small text files among them. Raises FormRefused unless it is a form
    of ours; `by_nobody` is one that nobody has to be signed in for. Raises proving.Held if who
    sends it has not shown that it is them after all."""
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
    _check_value(request, fields.pop(FIELD, ""), by_nobody=by_nobody)
    proof = {name: fields.pop(name) for name in (PASSWORD, CODE) if name in fields}
    request.state.fields = fields
    if proof and not by_nobody:
        await request.state.prove(proof)
    return fields


def _check_value(request: Request, given: str, *, by_nobody: bool) -> None:
    expected = [request.cookies.get(cookies.FORM, "")]
    if by_nobody:
        expected += cookies.firsts(request)
    if not any(one and hmac.compare_digest(given.encode(), one.encode()) for one in expected):
        raise FormRefused()


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
