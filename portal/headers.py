"""The headers that every answer of the portal has beside its page: nothing inline, nothing from
elsewhere, in nobody's frame, and kept by nobody."""

from typing import Any

from fastapi import Request

from gatepost.service.asgi import Header, Receive, Scope, Send
from gatepost.service.requests import context_of

POLICY = "; ".join(
    (
        "default-src 'none'",
        "style-src 'self'",
        "img-src 'self' data:",  # Bootstrap's own marks are in its style sheet
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    )
)
LIVE_POLICY = f"{POLICY}; script-src 'self'; connect-src 'self'"
ALWAYS: list[Header] = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),  # with no-referrer browsers hide where a form is from
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
    (b"cache-control", b"no-store"),  # of pages, of redirects with cookies, of refusals
]
STRICT_TRANSPORT: Header = (b"strict-transport-security", b"max-age=31536000")


def allow_our_script(request: Request) -> None:
    """Allow a script of ours on a page with live parts; it asks here and nowhere else."""
    _say_instead(request, b"content-security-policy", LIVE_POLICY.encode())


def allow_keeping(request: Request) -> None:
    """Allow keeping what is for everybody, and whose address is another one when it changes."""
    _say_instead(request, b"cache-control", b"public, max-age=31536000, immutable")


def _say_instead(request: Request, name: bytes, value: bytes) -> None:
    context = context_of(request.scope)
    others = [one for one in context.headers if one[0] != name]
    context.headers = [*others, (name, value)]


class Headers:
    """A wrapper that adds the headers, around the application, within what surrounds every
    request."""

    def __init__(self, app: Any, *, strict_transport: bool) -> None:
        """Wrap the application; `strict_transport` is for production: a developer's `localhost` has
        other ports."""
        self._app = app
        self._headers = [*ALWAYS, STRICT_TRANSPORT] if strict_transport else ALWAYS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        context = context_of(scope)
        context.headers = [*context.headers, *self._headers]
        await self._app(scope, receive, send)
