"""The portal's routes, and what becomes of what goes wrong in them: a page, in plain words."""

from typing import Any

from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse
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
    links,
    messages,
    overview,
    revoking,
    rights,
    second_step,
    signing_in,
    tokens,
    users,
)

PAGES = (
    files, signing_in, code, second_step, links, account, overview, messages, failed, rights, users,
    clients, revoking, client, tokens, issuing, certificates, domains, audit,
)  # fmt: skip
"""In the order in which their routes are tried."""


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
        api.include_router(pages.create_router(context))

    async def refuse(request: Request, error: Exception) -> Response:
        return _refuse(context, request, in_our_words(error))

    for kind in (GatepostError, HTTPException, RequestValidationError, Exception):
        api.add_exception_handler(kind, refuse)
    return api


async def _note_route(request: Request) -> None:
    """The event of this request names the route, never the path: a link's secret is in it."""
    context_of(request.scope).route = request.scope["route"].path


def _refuse(context: Context, request: Request, error: Exception) -> Response:
    about = context_of(request.scope)
    problem = describe(error.why if isinstance(error, proving.Held) else error, about.request_id)
    about.fields["problem"] = problem.document["type"]
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
    page = context.pages.make(
        request, "problem.html", None, problem.status, problem=problem.document
    )
    for name, value in problem.headers:
        page.headers[name.decode()] = value.decode()
    return page
