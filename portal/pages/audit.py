"""The audit log, for administrators: looking through it; and whether its chain is whole."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from gatepost.errors import GatepostError, Invalid
from gatepost.wire.audited import AuditChecks, AuditPage
from portal import forms
from portal.context import Context
from portal.filters import Filters, filters_in
from portal.visits import Visit, visitor

_AGAIN_SECONDS = 2


def create_router(context: Context) -> APIRouter:
    router = APIRouter(prefix="/audit")
    signed_in = visitor(context)

    @router.get("")
    async def audit(request: Request, before: str = "", visit: Visit = signed_in) -> Response:
        filters = filters_in(request.query_params)
        try:
            page = await _search(context, visit, filters, before)
        except Invalid as error:
            nothing = await _search(context, visit, Filters(), "")
            return _page(context, request, visit, filters, nothing, error)
        return _page(context, request, visit, filters, page)

    @router.get("/check")
    async def check(request: Request, visit: Visit = signed_in) -> Response:
        found = await context.main_server.get("/audit/check", visit.token, AuditChecks)
        page = context.pages.make(request, "audit_check.html", visit, check=found.check)
        if found.check is not None and found.check.state == "running":
            page.headers["refresh"] = str(_AGAIN_SECONDS)
        return page

    @router.post("/check")
    async def start_check(request: Request, visit: Visit = signed_in) -> Response:
        await forms.read(request)
        await context.main_server.post("/audit/check", visit.token, None, AuditChecks)
        return RedirectResponse("/audit/check", 303)

    return router


async def _search(context: Context, visit: Visit, filters: Filters, before: str) -> AuditPage:
    asked = filters.asked(visit.zone)
    names = ("from", "to", "actor", "action", "subject", "domain")
    wanted = {name: asked[name] for name in names if name in asked}
    if before:
        wanted["before"] = before
    return await context.main_server.get("/audit", visit.token, AuditPage, **wanted)


def _page(
    context: Context,
    request: Request,
    visit: Visit,
    filters: Filters,
    page: AuditPage,
    error: GatepostError | None = None,
) -> Response:
    """Make the page. A search that can't be made finds nothing, and what can be searched for is
    still offered."""
    return context.pages.make(
        request,
        "audit.html",
        visit,
        filters=filters,
        page=page if error is None else AuditPage([], None, None, page.actions),
        actions=[("", "anything"), *((one.action, one.in_words) for one in page.actions)],
        error=error,
    )
