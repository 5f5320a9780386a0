"""The person who looks at a page: the one whose token the browser shows.

A token that is over is replaced on the way, by the refresh token beside it; the answer to the same
request brings both to the browser.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from fastapi import Depends, Request

from gatepost.errors import NotSignedIn
from gatepost.service.access_tokens import Claims, key_of, verify
from gatepost.wire.holders import Ending
from gatepost.wire.people import Refresh, Tokens
from gatepost.zones import zone_of
from portal import cookies
from portal.endings import endings_for
from portal.proving import prove

if TYPE_CHECKING:
    from portal.context import Context


@dataclass(frozen=True, slots=True)
class Visit:
    """A person's visit. `token` is what the main server is asked with; `claims` are good for a
    menu; `endings` are for the banner."""

    token: str
    claims: Claims
    endings: tuple[Ending, ...] = ()

    @property
    def zone(self) -> ZoneInfo:
        """The zone in which the days that they type are meant."""
        return zone_of(self.claims.time_zone)


def visitor(context: "Context") -> Any:
    """Make a dependency of every page that is for people who have signed in."""

    async def visit(request: Request) -> Visit:
        token = request.cookies.get(cookies.ACCESS, "")
        try:
            claims = verify(token, context.keys.known, context.keys.now())
        except NotSignedIn:
            token = (await _refresh(context, request)).access_token
            known = await _keys_for(context, token)
            claims = verify(token, known, context.keys.now())
        found = Visit(token, claims, await endings_for(context, token, claims))
        request.state.visit = found
        request.state.prove = partial(prove, context, request, token)
        return found

    return Depends(visit)


def seen(context: "Context", request: Request) -> Visit | None:
    """Return who looks, if that is clear without asking anybody: for a page that says what went
    wrong."""
    found: Visit | None = getattr(request.state, "visit", None)
    if found is not None:
        return found
    token = request.cookies.get(cookies.ACCESS, "")
    try:
        return Visit(token, verify(token, context.keys.known, context.keys.now()))
    except NotSignedIn:
        return None


async def _keys_for(context: "Context", token: str) -> Mapping[str, Ed25519PublicKey]:
    """Return the keys for a token: the main server may have begun with another key a moment ago."""
    if key_of(token) not in context.keys.known:
        await context.keys.ask(context.main_server)
    return context.keys.known


async def _refresh(context: "Context", request: Request) -> Tokens:
    shown = request.cookies.get(cookies.REFRESH)
    if not shown:
        raise NotSignedIn()
    tokens = await context.main_server.post("/session/refresh", None, Refresh(shown), Tokens)
    cookies.put_tokens(request, tokens)
    return tokens
