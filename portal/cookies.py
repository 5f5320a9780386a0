"""The portal's cookies. `__Host-`: for this host alone, over TLS alone, seen by no script.

They live as long as the browser's session; the main server ends what they mean. One stays, which
lets nobody in: it marks a browser in which somebody has signed in before.
"""

from fastapi import Request

from gatepost.service.requests import context_of
from gatepost.wire.people import Tokens

ACCESS, REFRESH, FORM = "__Host-access", "__Host-refresh", "__Host-form"
FIRST = f"{FORM}-"
"""The beginning of the names of what forms hold before anybody has signed in."""
BROWSER, DOMAIN, DAYS_KNOWN = "__Host-browser", "__Host-domain", 180
_HOST = "Path=/; Secure; HttpOnly; SameSite="
_ATTRIBUTES = f"{_HOST}Strict"
_FORM_ATTRIBUTES = f"{_HOST}Lax"
"""The attributes of the form's cookie. When somebody comes by a link from elsewhere the cookie is
there, so that the page doesn't come with another value, which forms that are open then wouldn't
hold. When a form comes from elsewhere it isn't."""

_AGE_KNOWN = DAYS_KNOWN * 24 * 60 * 60


def put(request: Request, name: str, value: str) -> None:
    """Put a cookie into the answer to this request, whatever it will be."""
    _answer(request, name, f"{value}; {_ATTRIBUTES}")


def put_tokens(request: Request, tokens: Tokens) -> None:
    put(request, ACCESS, tokens.access_token)
    if tokens.refresh_token is not None:
        put(request, REFRESH, tokens.refresh_token)
    if tokens.browser is not None:
        put_known(request, tokens.browser)


def put_form(request: Request, name: str, value: str) -> None:
    _answer(request, name, f"{value}; {_FORM_ATTRIBUTES}")


def firsts(request: Request) -> list[str]:
    return [value for name, value in request.cookies.items() if name.startswith(FIRST)]


def put_domain(request: Request, domain: str) -> None:
    """Remember the domain in which somebody has signed in: the page to do so again is that of their
    domain."""
    _answer(request, DOMAIN, f"{domain}; {_ATTRIBUTES}; Max-Age={_AGE_KNOWN}")


def put_known(request: Request, browser: str) -> None:
    _answer(request, BROWSER, f"{browser}; {_ATTRIBUTES}; Max-Age={_AGE_KNOWN}")


def shows_tokens(request: Request) -> bool:
    return bool(request.cookies.get(ACCESS) or request.cookies.get(REFRESH))


def forget_tokens(request: Request) -> None:
    """Delete the tokens that this browser has shown. Cookies that it keeps to itself, as with a
    link from elsewhere, are not for whoever made the link to take."""
    if shows_tokens(request):
        for name in (ACCESS, REFRESH):
            _answer(request, name, f"; {_ATTRIBUTES}; Max-Age=0")


def _answer(request: Request, name: str, rest: str) -> None:
    """Put a cookie into the answer once: the last one counts."""
    context, begins = context_of(request.scope), f"{name}=".encode()
    others = [one for one in context.headers if not one[1].startswith(begins)]
    context.headers = [*others, (b"set-cookie", begins + rest.encode())]
