"""The ways that people come and go: to sign in, and then to the page that they wanted.

An address holds that page, and whoever made the address may have written anything: people are sent
only to pages of ours.
"""

import re
from urllib.parse import urlencode

from fastapi import Request

from portal import cookies
from portal.context import Context

LONGEST = 2000
DOMAIN = re.compile(r"\A[a-z0-9.-]{1,128}\Z")
_OURS = re.compile(r"\A/(?![/\\])[!-\[\]-~]*\Z")
_NOT_AGAIN = ("/login", "/logout", "/password/", "/d/", "/static/")
_ELSEWHERE = {"cross-site", "same-site"}


def login_path(context: Context, domain: str) -> str:
    return "/login" if domain == context.domain else f"/d/{domain}/login"


def login_of(context: Context, request: Request) -> str:
    """Return where whoever is at this browser signs in, to come back here."""
    domain = request.cookies.get(cookies.DOMAIN, "")
    path = login_path(context, domain if DOMAIN.match(domain) else context.domain)
    if request.method == "POST":
        return f"{path}?done=over"
    return path_with_next(path, request)


def path_with_next(path: str, request: Request) -> str:
    wanted = address_of(request)
    is_page = request.headers.get("sec-fetch-dest", "document") == "document"
    if request.method != "GET" or not is_page or wanted == "/":
        return path
    return f"{path}?{urlencode({'next': wanted})}"


def next_of(request: Request) -> str:
    """Return the page that somebody wanted before they had to sign in; the first one if there is
    none."""
    return _ours(request.query_params.get("next", ""))


def address_of(request: Request) -> str:
    query = f"?{request.url.query}" if request.url.query else ""
    return _ours(f"{request.url.path}{query}")


def is_from_elsewhere(request: Request) -> bool:
    """Return whether somebody has followed a link on a page of another site, or in a mail: browsers
    keep our cookies to themselves until they come from a page of ours."""
    come = request.headers.get("sec-fetch-site") in _ELSEWHERE
    going = request.headers.get("sec-fetch-mode") == "navigate" and request.method == "GET"
    return come and going and not cookies.shows_tokens(request)


def _ours(address: str) -> str:
    good = len(address) <= LONGEST and _OURS.match(address) and not address.startswith(_NOT_AGAIN)
    return address if good else "/"
