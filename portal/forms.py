"""Forms: each comes from a page of ours, in this browser, or it isn't read.

A page holds a random value that this browser has as a cookie, too: another site can have its
visitor's browser send a form here, but it knows neither. And the browser says where a form is from.
"""

import hmac
import re
import secrets
from urllib.parse import parse_qsl

from fastapi import Request

from gatepost.errors import FormRefused, Malformed, UnsupportedMediaType
from gatepost.service.asgi import read_body
from portal import cookies

FIELD = "form"
PASSWORD, CODE = "proof-password", "proof-code"
"""The fields by which somebody who sends a form shows that it is them, where that was wanted
(`portal.proving`)."""
MAX_BYTES, MAX_FIELDS = 16 * 1024, 64
_BOUNDARY = re.compile(r"(?i);\s*boundary=\"?([0-9A-Za-z'()+_,./:=?-]{1,70})\"?\s*(?:;|\Z)")
_NAME = re.compile(r'(?i)\r\ncontent-disposition:\s*form-data;\s*name="([^"\r\n]{1,100})"')
_TYPE, _TYPE_OF_FILES = "application/x-www-form-urlencoded", "multipart/form-data"


def token_of(request: Request) -> str:
    """Return the value that a form on the page that is being made has to hold."""
    known: str | None = getattr(request.state, "form", None) or request.cookies.get(cookies.FORM)
    if known or cookies.shows_tokens(request):
        return known or renew(request)
    firsts = cookies.firsts(request)
    return firsts[0] if firsts else _first(request)


def renew(request: Request) -> str:
    """Give the browser a new value: somebody who has signed in doesn't go on with what somebody
    else may have left in it."""
    return _put(request, cookies.FORM, secrets.token_urlsafe(32))


def _first(request: Request) -> str:
    """Return a value for before anybody has signed in, in a cookie with a name of its own: of two
    pages that a browser opens at once neither takes it from the other."""
    fresh = secrets.token_urlsafe(32)
    return _put(request, f"{cookies.FIRST}{fresh[:8]}", fresh)


def _put(request: Request, name: str, fresh: str) -> str:
    request.state.form = fresh
    cookies.put_form(request, name, fresh)
    return fresh


async def read(request: Request, *, files: bool = False, by_nobody: bool = False) -> dict[str, str]:
    """Return the fields; with `files`, small text files among them. Raise FormRefused unless it is
    a form of ours; `by_nobody` is one that nobody has to be signed in for. Raise proving.Held if
    the sender has not shown that it is them after all."""
    _check_origin(request)
    told = request.headers.get("content-type", "")
    kind = told.partition(";")[0].strip().lower()
    if kind not in ((_TYPE, _TYPE_OF_FILES) if files else (_TYPE,)):
        raise UnsupportedMediaType("This is not what a form of ours sends.")
    fields = fields_of(told, await read_body(request.receive, MAX_BYTES))
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


def fields_of(told: str, body: bytes) -> dict[str, str]:
    """Return the fields; raise Malformed for what isn't the form that its content type says."""
    is_pairs = told.partition(";")[0].strip().lower() == _TYPE
    try:
        return _pairs(body) if is_pairs else _parts(told, body)
    except ValueError:
        raise Malformed("This is not a form that can be read.") from None


def _pairs(body: bytes) -> dict[str, str]:
    given = parse_qsl(
        body.decode(), keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS
    )
    return dict(given)


def _parts(told: str, body: bytes) -> dict[str, str]:
    """Return the parts as browsers write them (RFC 7578), and in no other of the ways that a mail
    could be written. Raise ValueError for what isn't whole, and for files that aren't text."""
    boundary = _BOUNDARY.search(told)
    if boundary is None:
        raise ValueError("no boundary")
    before, *parts, end = (b"\r\n" + body).split(b"\r\n--" + boundary[1].encode())
    if before or not parts or not end.startswith(b"--") or len(parts) > MAX_FIELDS:
        raise ValueError("no parts, or some that have no end")
    return dict(_part(one) for one in parts)


def _part(part: bytes) -> tuple[str, str]:
    head, gap, content = part.partition(b"\r\n\r\n")
    name = _NAME.search(head.decode())
    if not gap or name is None:
        raise ValueError("a part without a name")
    return name[1], content.decode()


def _check_origin(request: Request) -> None:
    """Refuse a form from elsewhere, by what browsers say and pages can't change."""
    site = request.headers.get("sec-fetch-site", "same-origin")
    origin = request.headers.get("origin")
    ours = f"https://{request.headers.get('host', '')}"
    if site != "same-origin" or origin != ours:
        raise FormRefused()
