"""The tokens that partners enrol with: made, listed, withdrawn.

The page with a token is the answer to the form that made it: it is in no address, and whoever loads
the page again makes another.
"""

import re
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from gatepost.errors import BadIdentity, BadOrder, GatepostError, Invalid, NameTaken, NotFound
from gatepost.wire.holders import KeptToken, KeptTokens, MadeToken, TokenOrder
from portal import forms
from portal.context import Context
from portal.lives import is_over
from portal.visits import Visit, visitor

MOST = 100
"""The number of tokens on a page."""
LIVES = {"60": "an hour", "1440": "a day", "10080": "7 days"}
"""The lifetimes in minutes, and what they are called."""
_TOKEN = re.compile(r"\A[0-9a-f]{64}\Z")


def create_router(context: Context) -> APIRouter:
    router = APIRouter(prefix="/tokens")
    signed_in = visitor(context)

    @router.get("")
    async def tokens(
        request: Request,
        client: str = "",
        done: str = "",
        after: str = "",
        visit: Visit = signed_in,
    ) -> Response:
        typed, over = {"client": client}, done == "withdrawn"
        return await _page(context, request, visit, typed=typed, done=over, after=after)

    @router.post("")
    async def make(request: Request, visit: Visit = signed_in) -> Response:
        fields = await forms.read(request)
        try:
            order = _order(fields)
            made = await context.main_server.post("/tokens", visit.token, order, MadeToken)
        except (Invalid, BadOrder, BadIdentity, NameTaken, NotFound) as error:
            return await _page(context, request, visit, typed=fields, error=error)
        return context.pages.make(request, "token.html", visit, made=made)

    @router.post("/{token}/withdraw")
    async def withdraw(request: Request, token: str, visit: Visit = signed_in) -> Response:
        await forms.read(request)
        if not _TOKEN.match(token):
            raise NotFound("There is no such token.")
        await context.main_server.tell("DELETE", f"/tokens/{token}", visit.token)
        return RedirectResponse("/tokens?done=withdrawn", 303)

    return router


def state_of(token: KeptToken) -> str:
    if token.withdrawn_at:
        return "withdrawn"
    if token.used_at:
        return "used"
    return "over" if is_over(token.expires_at) else "open"


def _order(fields: dict[str, str]) -> TokenOrder:
    minutes = fields.get("minutes", "")
    if minutes not in LIVES:
        raise Invalid("Choose how long it is good.")
    return TokenOrder(fields.get("client", "").strip(), float(minutes))


async def _page(
    context: Context,
    request: Request,
    visit: Visit,
    *,
    typed: dict[str, str],
    done: bool = False,
    after: str = "",
    error: GatepostError | None = None,
) -> Response:
    asked = {"limit": str(MOST)} | ({"after": after} if after else {})
    found = await context.main_server.get("/tokens", visit.token, KeptTokens, **asked)
    return context.pages.make(
        request,
        "tokens.html",
        visit,
        tokens=[(one, state_of(one)) for one in found.tokens],
        following=f"/tokens?{urlencode({'after': found.next})}" if found.next else None,
        lives=LIVES,
        typed={"client": "", "minutes": "60"} | typed,
        done=done,
        error=error,
    )
