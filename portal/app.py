"""The portal's routes, and the pages, in plain words, for what goes wrong in them."""

from typing import Any

from fastapi import APIRouter, Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from gatepost.errors import (
    CodeWanted,
    GatepostError,
    NotSignedIn,
    PasswordWanted,
    SecondStepMissing,
    SecondStepWanted,
)
from gatepost.problem import describe
from gatepost.service.api import in_our_words
from gatepost.service.requests import context_of
from portal import cookies, proving, ways
from portal.context import Context
from portal.headers import Headers
from portal.pages import (
    account,
    audit,
    certificates,
    client,
    clients,
    code,
    domains,
    failed,
    files,
    issuing,
    kept,
    links,
    messages,
    overview,
    reports,
    revoking,
    rights,
    second_step,
    signing_in,
    tokens,
    users,
)
from portal.visits import seen

PAGES = (
    files, signing_in, code, second_step, links, account, overview, messages, failed, reports,
    rights, users, clients, revoking, kept, client, tokens, issuing, certificates, domains,
    audit,
)  # fmt: skip
"""The pages, in the order in which their routes are tried."""


def create_app(context: Context, *, strict_transport: bool) -> Any:
    return Headers(create_api(context), strict_transport=strict_transport)


def create_api(context: Context) -> FastAPI:
    api = FastAPI(
        title="Gatepost portal",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        dependencies=[Depends(_note_route)],
    )
    for pages in PAGES:
        router = pages.create_router(context)
        _answer_head(router)
        api.include_router(router)

    async def refuse(request: Request, error: Exception) -> Response:
        return _refuse(context, request, in_our_words(request, error))

    for kind in (GatepostError, HTTPException, RequestValidationError, Exception):
        api.add_exception_handler(kind, refuse)
    return api


def _answer_head(router: APIRouter) -> None:
    """Answer HEAD like GET, without the page, which the server leaves out: for whoever watches that
    we work."""
    for route in router.routes:
        if isinstance(route, APIRoute) and route.methods and "GET" in route.methods:
            route.methods.add("HEAD")


async def _note_route(request: Request) -> None:
    """Name the route in this request's event, never the path: a link's secret is in it."""
    context_of(request.scope).route = request.scope["route"].path


def _refuse(context: Context, request: Request, error: Exception) -> Response:
    about = context_of(request.scope)
    why = error.why if isinstance(error, proving.Held) else error
    about.fields["problem"] = describe(why).document["type"]
    if isinstance(error, NotSignedIn):
        cookies.forget_tokens(request)
        if ways.is_from_elsewhere(request):
            return context.pages.make(
                request, "arriving.html", None, address=ways.address_of(request)
            )
        return RedirectResponse(ways.login_of(context, request), 303)
    if isinstance(error, SecondStepWanted):
        return RedirectResponse(ways.path_with_next(code.CODE_PAGE, request), 303)
    if isinstance(error, PasswordWanted | CodeWanted | proving.Held):
        return proving.page(context, request, error)
    if isinstance(error, SecondStepMissing):
        return RedirectResponse(second_step.SET_UP_PAGE, 303)
    return context.pages.make(request, "problem.html", seen(context, request), error=error)
