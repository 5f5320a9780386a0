"""Set a password by a link that is good for one time."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from gatepost.errors import Invalid
from gatepost.wire.people import KnownBrowser, Reset
from portal import cookies, forms
from portal.context import Context
from portal.ways import login_path


def create_router(context: Context) -> APIRouter:
    router = APIRouter()

    @router.get("/password/{token}")
    async def show_link(request: Request) -> Response:
        return context.pages.make(request, "set_password.html", None)

    @router.post("/password/{token}")
    async def use_link(request: Request, token: str) -> Response:
        return await _set_password(context, request, token)

    return router


async def _set_password(context: Context, request: Request, token: str) -> Response:
    fields = await forms.read(request, by_nobody=True)
    try:
        if fields.get("new") != fields.get("again"):
            raise Invalid("The two are not the same. Type the new password twice.")
        wanted = Reset(token, fields.get("new", ""))
        known = await context.main_server.post("/password/reset", None, wanted, KnownBrowser)
    except Invalid as error:
        return context.pages.make(request, "set_password.html", None, error=error)
    cookies.forget_tokens(request)
    cookies.put_known(request, known.browser)
    return RedirectResponse(f"{login_path(context, known.domain)}?done=password-set", 303)
