"""The second step of signing in: the code that is asked for after the password."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from gatepost.errors import GatepostError, Invalid, TooManyTries, WrongCode
from gatepost.service.requests import context_of
from gatepost.wire.people import SecondStepCode, Tokens
from portal import cookies, forms
from portal.addresses import browser_of
from portal.context import Context
from portal.visits import Visit, visitor
from portal.ways import next_of

CODE_PAGE = "/login/code"


def create_router(context: Context) -> APIRouter:
    router = APIRouter()
    signed_in = visitor(context)

    @router.get(CODE_PAGE)
    async def ask_code(request: Request, _visit: Visit = signed_in) -> Response:
        return _form(context, request)

    @router.post(CODE_PAGE)
    async def try_code(request: Request, visit: Visit = signed_in) -> Response:
        return await _give_code(context, request, visit)

    return router


def given_in(context: Context, request: Request, fields: dict[str, str]) -> SecondStepCode:
    return SecondStepCode(fields.get("code", ""), browser_of(request, context.trusted_proxies))


async def _give_code(context: Context, request: Request, visit: Visit) -> Response:
    """End what the password began: another session begins, with another value for forms."""
    context_of(request.scope).event = "login.code_tried"
    given, path = given_in(context, request, await forms.read(request)), "/session/second-step"
    try:
        tokens = await context.main_server.post(path, visit.token, given, Tokens)
    except (WrongCode, TooManyTries) as error:
        return _form(context, request, error)
    except Invalid:
        return RedirectResponse(next_of(request), 303)  # in another window it was given already
    cookies.put_tokens(request, tokens)
    forms.renew(request)
    context_of(request.scope).event = "login.succeeded"
    return RedirectResponse(next_of(request), 303)


def _form(context: Context, request: Request, error: GatepostError | None = None) -> Response:
    return context.pages.make(request, "code.html", None, error=error)
