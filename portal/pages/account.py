"""The person's own page: who they are here, their password, their sessions."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from gatepost.errors import Invalid, TooManyTries
from gatepost.people import PasswordChange, Person
from gatepost.problem import describe
from portal import cookies, forms
from portal.context import Context
from portal.pages.signing_in import login_path
from portal.visits import Visit, visitor


def create_router(context: Context) -> APIRouter:
    router = APIRouter()
    signed_in = visitor(context)

    @router.get("/")
    async def first(_visit: Visit = signed_in) -> Response:
        return RedirectResponse("/messages", 303)

    @router.get("/account")
    async def account(request: Request, visit: Visit = signed_in) -> Response:
        person = await context.main_server.get("/session", visit.token, Person)
        return context.pages.make(request, "account.html", visit, person=person, problem=None)

    @router.post("/account/password")
    async def change_password(request: Request, visit: Visit = signed_in) -> Response:
        fields = await forms.read(request)
        person = await context.main_server.get("/session", visit.token, Person)
        try:
            await _change(context, visit, fields)
        except (Invalid, TooManyTries) as error:
            problem = describe(error)
            return context.pages.make(
                request,
                "account.html",
                visit,
                problem.status,
                person=person,
                problem=problem.document,
            )
        cookies.forget_tokens(request)
        return RedirectResponse(
            f"{login_path(context, visit.claims.domain)}?done=password-set", 303
        )

    return router


async def _change(context: Context, visit: Visit, fields: dict[str, str]) -> None:
    if fields.get("new") != fields.get("again"):
        raise Invalid("The two are not the same. Type the new password twice.")
    wanted = PasswordChange(fields.get("current", ""), fields.get("new", ""))
    await context.main_server.tell("POST", "/password", visit.token, wanted)
