"""The page on how long a domain's or a client's messages are kept, what goes next, and legal holds
on either.

An administrator puts what is theirs on hold and lifts it again; only an administrator of all
domains sets a client's days.
"""

import re

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from gatepost.errors import FieldError, GatepostError, Invalid, NotFound
from gatepost.wire.retention import DaysOrder, Hold, HoldOrder, Kept
from portal import forms
from portal.context import Context
from portal.pages.clients import checked
from portal.visits import Visit, visitor

DONE = {
    "held": "It is on hold: nothing of it goes until the hold is lifted.",
    "lifted": "The hold is lifted. What is past its day goes with the next run.",
    "days": "It counts from the next run on.",
}
"""The words when it is done."""

_DOMAIN = re.compile(r"\A[a-z0-9.-]{1,128}\Z")
_HOLD = re.compile(r"\A[0-9a-f-]{1,40}\Z")


OF_CLIENT, OF_DOMAIN = "/clients/{client_id}/kept", "/domains/{domain}/kept"


def create_router(context: Context) -> APIRouter:
    router = APIRouter()
    signed_in = visitor(context)
    for place in (OF_CLIENT, OF_DOMAIN):
        _add_routes(router, context, place)

    @router.post(f"{OF_CLIENT}/days")
    async def set_days(request: Request, visit: Visit = signed_in) -> Response:
        fields = await forms.read(request)
        days = fields.get("retention_days", "").strip()
        try:
            order = DaysOrder(_number(days) if days else None)
            await context.main_server.post(_asked(request), visit.token, order, Kept)
        except Invalid as error:
            return await _page(context, request, visit, error=error)
        return _done(request, "days")

    return router


def _add_routes(router: APIRouter, context: Context, place: str) -> None:
    signed_in = visitor(context)

    @router.get(place)
    async def kept(request: Request, done: str = "", visit: Visit = signed_in) -> Response:
        return await _page(context, request, visit, done=DONE.get(done))

    @router.post(f"{place}/hold")
    async def hold(request: Request, visit: Visit = signed_in) -> Response:
        order = HoldOrder((await forms.read(request)).get("reason", ""))
        path = f"{_asked(request)}/holds"
        try:
            await context.main_server.post(path, visit.token, order, Hold)
        except Invalid as error:
            return await _page(context, request, visit, error=error)
        return _done(request, "held")

    @router.post(f"{place}/lift")
    async def lift(request: Request, visit: Visit = signed_in) -> Response:
        fields = await forms.read(request)
        order, _ = HoldOrder(fields.get("reason", "")), _asked(request)
        path = f"/retention/holds/{_checked_hold(fields.get('hold', ''))}/lift"
        try:
            await context.main_server.post(path, visit.token, order, Hold)
        except Invalid as error:
            return await _page(context, request, visit, error=error)
        return _done(request, "lifted")


def _asked(request: Request) -> str:
    """Return the path at the main server. What was typed into an address is not taken for more."""
    if client_id := request.path_params.get("client_id"):
        return f"/retention/clients/{checked(client_id)}"
    domain = request.path_params["domain"]
    if not _DOMAIN.match(domain):
        raise NotFound("There is no such domain.")
    return f"/retention/domains/{domain}"


def _done(request: Request, what: str) -> Response:
    page = _asked(request).removeprefix("/retention")
    return RedirectResponse(f"{page}/kept?done={what}", 303)


def _checked_hold(text: str) -> str:
    if not _HOLD.match(text):
        raise NotFound("There is no such hold.")
    return text


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise Invalid(errors=[FieldError("/retention_days", "is a number")])
    return int(text)


async def _page(
    context: Context,
    request: Request,
    visit: Visit,
    *,
    done: str | None = None,
    error: GatepostError | None = None,
) -> Response:
    found = await context.main_server.get(_asked(request), visit.token, Kept)
    return context.pages.make(request, "kept.html", visit, kept=found, done=done, error=error)
