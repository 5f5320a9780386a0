"""The portal's cookies. `__Host-`: for this host alone, over TLS alone, seen by no script.

They live as long as the browser's session; the main server ends what they mean. One stays, that
lets nobody in: by it a browser is known in which somebody has signed in before.
"""

from fastapi import Request

from gatepost.people import Tokens
from gatepost.service.requests import context_of

ACCESS, REFRESH, FORM = "__Host-access", "__Host-refresh", "__Host-form"
BROWSER, DAYS_KNOWN = "__Host-browser", 180
_ATTRIBUTES = "Path=/; Secure; HttpOnly; SameSite=Strict"


def put(request: Request, name: str, value: str) -> None:
    """Into the answer to this request, whatever it will be."""
    _answer(request, name, f"{value}; {_ATTRIBUTES}")


def put_tokens(request: Request, tokens: Tokens) -> None:
    put(request, ACCESS, tokens.access_token)
    if tokens.refresh_token is not None:
        put(request, REFRESH, tokens.refresh_token)
    if tokens.browser is not None:
        put_known(request, tokens.browser)


def put_known(request: Request, browser: str) -> None:
    age = DAYS_KNOWN * 24 * 60 * 60
    _answer(request, BROWSER, f"{browser}; {_ATTRIBUTES}; Max-Age={age}")


def forget_tokens(request: Request) -> None:
    for name in (ACCESS, REFRESH):
        _answer(request, name, f"; {_ATTRIBUTES}; Max-Age=0")


def _answer(request: Request, name: str, rest: str) -> None:
    """Once in an answer: the last one counts."""
    context, begins = context_of(request.scope), f"{name}=".encode()
    others = [one for one in context.headers if not one[1].startswith(begins)]
    context.headers = [*others, (b"set-cookie", begins + rest.encode())]
