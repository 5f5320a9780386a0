"""The person's own page: who they are here, their password, their time zone, their sessions."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from gatepost.errors import GatepostError, Invalid, TooManyTries
from gatepost.wire.people import PasswordChange, Person, Tokens, UserRole, ZoneChange
from gatepost.zones import zone_names
from portal import cookies, forms
from portal.context import Context
from portal.visits import Visit, visitor
from portal.ways import login_path

DONE = {"time-zone": "Times are shown in your time zone from now on."}
"""The words when something is done."""


def create_router(context: Context) -> APIRouter:
    router = APIRouter()
    signed_in = visitor(context)

    @router.get("/")
    async def first(visit: Visit = signed_in) -> Response:
        page = "/messages" if visit.claims.role is UserRole.USER else "/overview"
        return RedirectResponse(page, 303)

    @router.get("/account")
    async def account(request: Request, done: str = "", visit: Visit = signed_in) -> Response:
        return await _page(context, request, visit, done=DONE.get(done))

    @router.post("/account/time-zone")
    async def change_zone(request: Request, visit: Visit = signed_in) -> Response:
        wanted = ZoneChange((await forms.read(request)).get("time_zone") or None)
        try:
            tokens = await context.main_server.post("/time-zone", visit.token, wanted, Tokens)
        except Invalid as error:
            return await _page(context, request, visit, error=error)
        cookies.put_tokens(request, tokens)
        return RedirectResponse("/account?done=time-zone", 303)

    @router.post("/account/password")
    async def change_password(request: Request, visit: Visit = signed_in) -> Response:
        fields = await forms.read(request)
        try:
            await _change(context, visit, fields)
        except (Invalid, TooManyTries) as error:
            return await _page(context, request, visit, error=error)
        cookies.forget_tokens(request)
        return RedirectResponse(
            f"{login_path(context, visit.claims.domain)}?done=password-set", 303
        )

    return router


async def _page(
    context: Context,
    request: Request,
    visit: Visit,
    *,
    done: str | None = None,
    error: GatepostError | None = None,
) -> Response:
    person = await context.main_server.get("/session", visit.token, Person)
    return context.pages.make(
        request,
        "account.html",
        visit,
        person=person,
        zones=zone_names(),
        done=done,
        error=error,
    )


async def _change(context: Context, visit: Visit, fields: dict[str, str]) -> None:
    if fields.get("new") != fields.get("again"):
        raise Invalid("The two are not the same. Type the new password twice.")
    wanted = PasswordChange(fields.get("current", ""), fields.get("new", ""))
    await context.main_server.tell("POST", "/password", visit.token, wanted)
