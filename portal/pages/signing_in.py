"""Signing in, and signing out.

The page is the same whatever domain is named: it doesn't tell which there are (I12).
"""

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from gatepost.errors import GatepostError, NotFound, TooManyTries, WrongCredentials
from gatepost.service.requests import context_of
from gatepost.wire.people import SignIn, Tokens
from portal import cookies, forms
from portal.addresses import browser_of
from portal.context import Context
from portal.visits import Visit, visitor
from portal.ways import DOMAIN, login_path, next_of

_DONE = {
    "signed-out": "You are signed out.",
    "password-set": (
        "Your new password is set, and you are signed out everywhere. Sign in with it."
    ),
}
"""The words when something was done."""
_NOT_DONE = {
    "over": "Your session was over, and nothing was changed. Sign in, and do it once more.",
}


def create_router(context: Context) -> APIRouter:
    router = APIRouter()
    signed_in = visitor(context)

    @router.get("/login")
    async def login(request: Request, done: str = "") -> Response:
        return _form(context, request, context.domain, done=done)

    @router.post("/login")
    async def try_login(request: Request) -> Response:
        return await _sign_in(context, request, context.domain)

    @router.get("/d/{domain}/login")
    async def login_to(request: Request, domain: str, done: str = "") -> Response:
        return _form(context, request, _checked(domain), done=done)

    @router.post("/d/{domain}/login")
    async def try_login_to(request: Request, domain: str) -> Response:
        return await _sign_in(context, request, _checked(domain))

    @router.post("/logout")
    async def logout(request: Request, visit: Visit = signed_in) -> Response:
        await forms.read(request)
        return await _sign_out(context, request, visit, "/session")

    @router.post("/logout-everywhere")
    async def logout_everywhere(request: Request, visit: Visit = signed_in) -> Response:
        await forms.read(request)
        return await _sign_out(context, request, visit, "/sessions")

    return router


async def _sign_in(context: Context, request: Request, domain: str) -> Response:
    context_of(request.scope).event = "login.tried"
    fields = await forms.read(request, by_nobody=True)
    typed = fields.get("name", "").strip()
    name, at, after = typed.rpartition("@")
    wanted = SignIn(
        after if at else domain,
        name if at else typed,
        fields.get("password", ""),
        browser_of(request, context.trusted_proxies),
        request.cookies.get(cookies.BROWSER),
        request.cookies.get(cookies.REFRESH),
    )
    try:
        tokens = await context.main_server.post("/session", None, wanted, Tokens)
    except (WrongCredentials, TooManyTries) as error:
        return _form(context, request, domain, error=error, typed=typed)
    cookies.put_tokens(request, tokens)
    cookies.put_domain(request, wanted.domain.strip().lower())
    forms.renew(request)
    context_of(request.scope).event = "login.succeeded"
    return RedirectResponse(next_of(request), 303)


async def _sign_out(context: Context, request: Request, visit: Visit, path: str) -> Response:
    await context.main_server.tell("DELETE", path, visit.token)
    cookies.forget_tokens(request)
    return RedirectResponse(f"{login_path(context, visit.claims.domain)}?done=signed-out", 303)


def _form(
    context: Context,
    request: Request,
    domain: str,
    *,
    done: str = "",
    error: GatepostError | None = None,
    typed: str = "",
) -> Response:
    return context.pages.make(
        request,
        "login.html",
        None,
        domain=None if domain == context.domain else domain,
        done=_DONE.get(done),
        not_done=_NOT_DONE.get(done),
        error=error,
        typed=typed,
    )


def _checked(domain: str) -> str:
    if not DOMAIN.match(domain):
        raise NotFound()
    return domain
